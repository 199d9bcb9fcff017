import Alcedo
import AlcedoHTTP

/// The reason for which a request receives no thumbnail: a status and a message of the server. The message never
/// contains text from an origin.
struct HTTPError: Error, Equatable {
    var status: Int
    var message: String
    /// The time, in seconds, after which the client may try again.
    var retryAfter: Int?
    /// The supported methods, as the value of the `Allow` field.
    var allow: String?

    init(_ status: Int, _ message: String, retryAfter: Int? = nil, allow: String? = nil) {
        self.status = status
        self.message = message
        self.retryAfter = retryAfter
        self.allow = allow
    }

    static let methodNotAllowed = HTTPError(405, "the method must be GET or HEAD", allow: "GET, HEAD")
    static let malformed = HTTPError(400, "the head of the request is malformed")
    static let headTimedOut = HTTPError(408, "the head of the request is incomplete")
    static let timedOut = HTTPError(504, "the thumbnail was not ready in time")
    static let overloaded = HTTPError(503, "the server is overloaded", retryAfter: 1)
    static let shuttingDown = HTTPError(503, "the server is stopping", retryAfter: 5)

    var response: ServerResponse {
        var response = ServerResponse(status: status, text: "\(message)\n")
        if let retryAfter { response.fields["Retry-After"] = String(retryAfter) }
        if let allow { response.fields["Allow"] = allow }
        return response
    }
}
