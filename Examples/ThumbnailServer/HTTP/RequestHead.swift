/// The head of a request, as far as the server reads it.
struct RequestHead: Sendable {
    var method: String
    /// Path and query as they were sent, not decoded.
    var target: String
    /// All values of `Accept`, joined by commas; nil when there is none.
    var accept: String?
    /// All values of `If-None-Match`, joined by commas; nil when there is none.
    var ifNoneMatch: String?
    var hasBody = false

    var path: Substring { target.prefix { $0 != "?" } }

    /// What follows the first question mark; empty without one.
    var query: Substring { target[path.endIndex...].dropFirst() }

    var isHead: Bool { method == "HEAD" }
}
