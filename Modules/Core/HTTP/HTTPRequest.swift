public import FoundationEssentials

/// A request as it goes to a transport.
public struct HTTPRequest: Sendable, Hashable {
    /// What is asked for. Default: `GET`.
    public var method: HTTPMethod
    /// Whom to ask, and for what.
    public var url: URL
    /// The header fields, beside those that a transport adds.
    public var fields: HTTPFields
    /// What is sent with it; nil, the default, is nothing.
    public var body: Data?
    /// Longest time without a byte from the server, the connection's own set-up included. Default: 15 seconds.
    public var idleTimeout: Duration
    /// Longest time until the head of the answer is there, interim answers aside; nil, the default, is the idle timeout's alone. Like all three
    /// timeouts, it begins when the request has left the transport's own line.
    public var firstByteTimeout: Duration?
    /// Longest time until the end of the body, pauses of its reader included; nil, the default, is no limit.
    public var totalTimeout: Duration?
    /// How response caches on the way are used.
    public var cachePolicy: HTTPCachePolicy
    /// Whether response caches on the way may store the answer.
    public var allowsStoring: Bool

    /// A request; by default a `GET` without fields that uses response caches as HTTP has it.
    public init(
        method: HTTPMethod = .get,
        url: URL,
        fields: HTTPFields = HTTPFields(),
        body: Data? = nil,
        idleTimeout: Duration = .seconds(15),
        firstByteTimeout: Duration? = nil,
        totalTimeout: Duration? = nil,
        cachePolicy: HTTPCachePolicy = .useProtocolCachePolicy,
        allowsStoring: Bool = true
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.idleTimeout = idleTimeout
        self.firstByteTimeout = firstByteTimeout
        self.totalTimeout = totalTimeout
        self.cachePolicy = cachePolicy
        self.allowsStoring = allowsStoring
    }
}
