public import FoundationEssentials

/// A request as it goes to a transport.
public struct HTTPRequest: Sendable, Hashable {
    public var method: HTTPMethod
    public var url: URL
    public var fields: HTTPFields
    public var body: Data?
    /// Longest time without a byte from the server, the connection's own set-up included. Default: 15 seconds.
    public var idleTimeout: Duration
    /// How response caches on the way are used.
    public var cachePolicy: HTTPCachePolicy
    /// Whether response caches on the way may store the answer.
    public var allowsStoring: Bool

    public init(
        method: HTTPMethod = .get,
        url: URL,
        fields: HTTPFields = HTTPFields(),
        body: Data? = nil,
        idleTimeout: Duration = .seconds(15),
        cachePolicy: HTTPCachePolicy = .useProtocolCachePolicy,
        allowsStoring: Bool = true
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.idleTimeout = idleTimeout
        self.cachePolicy = cachePolicy
        self.allowsStoring = allowsStoring
    }
}
