/// The head of a request, as far as the server reads it.
struct RequestHead: Sendable {
    var method: String
    /// Path and query as they were sent, not decoded; of a target in absolute form they alone.
    var target: String
    /// All values of `Accept`, joined by commas; nil when there is none.
    var accept: String?
    /// All values of `If-None-Match`, joined by commas; nil when there is none.
    var ifNoneMatch: String?
    var hasBody = false

    /// What a target in absolute form has after its host; any other as it is. Source: RFC 9112 section 3.2.2.
    static func originForm(_ target: String) -> String {
        let scheme = target.prefix { $0 != ":" }
        let rest = target[scheme.endIndex...]
        guard ["http", "https"].contains(scheme.lowercased()), rest.hasPrefix("://") else { return target }
        let path = rest.dropFirst(3).drop { $0 != "/" && $0 != "?" }
        return path.hasPrefix("/") ? String(path) : "/\(path)"
    }

    var path: Substring { target.prefix { $0 != "?" } }

    /// What follows the first question mark; empty without one.
    var query: Substring { target[path.endIndex...].dropFirst() }

    var isHead: Bool { method == "HEAD" }
}
