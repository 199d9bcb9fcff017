import Alcedo
import AlcedoHTTP

/// Why a request gets no picture: a status, and words of our own. Nothing that an origin has said is in them.
struct HTTPError: Error, Equatable {
    var status: Int
    var message: String
    /// When to try again, in seconds.
    var retryAfter: Int?
    /// The methods that there are.
    var allow: String?

    init(_ status: Int, _ message: String, retryAfter: Int? = nil, allow: String? = nil) {
        self.status = status
        self.message = message
        self.retryAfter = retryAfter
        self.allow = allow
    }

    static let methodNotAllowed = HTTPError(405, "only GET and HEAD are answered", allow: "GET, HEAD")
    static let timedOut = HTTPError(504, "the picture is not there in time")
    static let overloaded = HTTPError(503, "there is too much to do", retryAfter: 1)
    static let shuttingDown = HTTPError(503, "the server is stopping", retryAfter: 5)

    var response: ServerResponse {
        var response = ServerResponse(status: status, text: "\(message)\n")
        if let retryAfter { response.fields["Retry-After"] = String(retryAfter) }
        if let allow { response.fields["Allow"] = allow }
        return response
    }
}
