/// What is known of status codes. Source: RFC 9110 section 15, RFC 9111 section 3.
enum StatusRules {
    /// The codes whose rules for caching this cache follows.
    private static let understood: Set = [
        200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 410, 414, 500, 501, 502, 503, 504,
    ]
    /// RFC 9110 section 15.1.
    private static let heuristic: Set = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    static func isUnderstood(_ status: Int) -> Bool { understood.contains(status) }

    /// Whether an answer with this code may be stored, and its lifetime guessed, when it says nothing of either.
    static func isHeuristicallyCacheable(_ status: Int) -> Bool { heuristic.contains(status) }

    /// Whether the code says that the server has no answer now, and nothing about the resource.
    static func isTrouble(_ status: Int) -> Bool { status >= 500 || [408, 425, 429].contains(status) }

    /// RFC 5861 section 4.
    static func isStaleIfError(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }
}
