public import FoundationEssentials

/// A request as it goes to a transport.
public struct HTTPRequest: Sendable, Hashable {
    public var method: HTTPMethod
    public var url: URL
    public var fields: HTTPFields
    public var body: Data?
    /// Longest time without a byte from the server, the connection's own set-up included. Default: 15 seconds.
    public var idleTimeout: Duration

    public init(
        method: HTTPMethod = .get,
        url: URL,
        fields: HTTPFields = HTTPFields(),
        body: Data? = nil,
        idleTimeout: Duration = .seconds(15)
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.idleTimeout = idleTimeout
    }
}
