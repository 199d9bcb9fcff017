public import AlcedoCore

/// Where redirects are followed to.
public struct RedirectPolicy: Sendable {
    /// Is told the head of the redirect and the request that would be sent next, credentials removed where the origin is
    /// another one. Returns the request to send, or nil to refuse, which is the error `badRedirect`.
    public typealias Hook = @Sendable (_ head: HTTPResponseHead, _ next: HTTPRequest) async throws -> HTTPRequest?

    /// Most redirects in a row. Default: 20.
    public var limit: Int
    /// Default: none; all within the web are followed.
    public var hook: Hook?

    /// By default at most 20, wherever they lead; none below 0.
    public init(limit: Int = 20, hook: Hook? = nil) {
        self.limit = max(0, limit)
        self.hook = hook
    }
}
