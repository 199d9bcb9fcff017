import Alcedo
private import CHTTPServerShim
import AlcedoHTTP
import FoundationEssentials

/// A whole answer.
struct ServerResponse: Sendable {
    var status: Int
    /// Without the length and the date, which the server adds.
    var fields: HTTPFields
    /// Not sent for a HEAD, nor with 304; its length is.
    var body: Data

    init(status: Int, fields: HTTPFields = HTTPFields(), body: Data = Data()) {
        self.status = status
        self.fields = fields
        self.body = body
        self.fields.append("X-Content-Type-Options", "nosniff")
    }

    /// A short text for people, which no cache keeps.
    init(status: Int, text: String, type: String = "text/plain; charset=utf-8") {
        self.init(status: status, fields: ["Content-Type": type, "Cache-Control": "no-store"], body: Data(text.utf8))
    }
}

extension ServerResponse {
    /// Queues it as the answer to a request. False when there is no memory for it.
    ///
    /// - Parameter hold: Of the body, which is sent from where it is; nil: it is copied.
    func send(as request: OpaquePointer, _ reference: ResponseBodyPool.Reference?) -> Bool {
        // One block of names and values, each ending in a NUL, and where in it they begin.
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

/// An answer, or what makes one.
enum HandlerResult: Sendable {
    case response(ServerResponse)
    /// Runs as a task, which is cancelled when the client goes away.
    case asynchronous(@Sendable () async -> ServerResponse)
}
