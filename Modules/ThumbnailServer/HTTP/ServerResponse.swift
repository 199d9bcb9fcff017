import Alcedo
private import CHTTPServerShim
import AlcedoHTTP
import FoundationEssentials

/// A complete response.
struct ServerResponse: Sendable {
    var status: Int
    /// The header fields, without the length and the date, which the server adds.
    var fields: HTTPFields
    /// The body. In a response to HEAD or with status 304, only its length is sent.
    var body: Data

    init(status: Int, fields: HTTPFields = HTTPFields(), body: Data = Data()) {
        self.status = status
        self.fields = fields
        self.body = body
        self.fields.append("X-Content-Type-Options", "nosniff")
    }

    /// Creates a response with a short text, which caches must not store.
    init(status: Int, text: String, type: String = "text/plain; charset=utf-8") {
        self.init(status: status, fields: ["Content-Type": type, "Cache-Control": "no-store"], body: Data(text.utf8))
    }
}

extension ServerResponse {
    /// Queues the response to a request. Returns false if no memory is available or a field is invalid.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - reference: The reference that holds the body while it is sent from its address; nil to copy the body.
    func send(as request: OpaquePointer, _ reference: ResponseBodyPool.Reference?) -> Bool {
        // The block holds the names and values, each terminated by NUL. `starts` holds their offsets.
        var block: [CChar] = []
        var starts: [Int] = []
        for field in fields {
            for text in [field.name, field.value] {
                starts.append(block.count)
                block.append(contentsOf: text.utf8CString)
            }
        }
        return block.withUnsafeBufferPointer { block in
            guard let base = block.baseAddress else { return false }
            let names = stride(from: 0, to: starts.count, by: 2).map { base + starts[$0] }
            let values = stride(from: 1, to: starts.count, by: 2).map { base + starts[$0] }
            let status = UInt32(clamping: status)
            guard let reference else {
                return body.withUnsafeBytes { bytes in
                    alcedo_http_reply(
                        request, status, names, values, names.count, bytes.baseAddress, bytes.count, nil, nil) != 0
                }
            }
            let bytes = reference.bytes
            return alcedo_http_reply(
                request, status, names, values, names.count, bytes.baseAddress, bytes.count,
                { context in
                    if let context { Unmanaged<ResponseBodyPool.Reference>.fromOpaque(context).release() }
                }, Unmanaged.passRetained(reference).toOpaque()) != 0
        }
    }
}

/// A response, or an operation that creates it.
enum HandlerResult: Sendable {
    case response(ServerResponse)
    /// An operation that runs in a task. The task is canceled if the client disconnects, or if the server sends another
    /// response first, for example after a timeout.
    case asynchronous(@Sendable () async -> ServerResponse)
}
