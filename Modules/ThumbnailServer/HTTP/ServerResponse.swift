import Alcedo
import AlcedoHTTP
import FoundationEssentials

struct ServerResponse: Sendable {
    var status: Int
    /// The header fields, without `Connection`, the length and the date, which the server adds.
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
    private static let reasons = [
        200: "OK", 304: "Not Modified", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 408: "Request Timeout", 410: "Gone", 413: "Content Too Large", 414: "URI Too Long",
        422: "Unprocessable Content", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
        502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]

    /// Returns the head of the response, with its date and the length of the body, which is also that of a response
    /// without a body.
    ///
    /// - Parameters:
    ///   - closes: Whether the connection is closed after the response.
    ///   - minorVersion: The minor version of HTTP/1 of the request.
    ///   - now: The date.
    func head(closes: Bool, minorVersion: Int = 1, now: Date) -> [UInt8] {
        var text = "HTTP/1.1 \(status) \(Self.reasons[status] ?? "")\r\nDate: \(HTTPDate.format(now))\r\n"
        text += "Content-Length: \(body.count)\r\n"
        if closes { text += "Connection: close\r\n" } else if minorVersion == 0 { text += "Connection: keep-alive\r\n" }
        for field in fields { text += "\(field.name): \(field.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }
}

/// A response, or an operation that creates it.
enum HandlerResult: Sendable {
    case response(ServerResponse)
    /// An operation that runs in a task. The task is canceled if the client disconnects, or if the server sends another
    /// response first, for example after a timeout.
    case asynchronous(@Sendable () async -> ServerResponse)
}
