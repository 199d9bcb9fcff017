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
    /// The longest time without a byte from the server, the connection's own set-up included. Zero or less, the default,
    /// is the default of the downloader that sends the request, else ``defaultIdleTimeout``.
    public var idleTimeout: Duration {
        get { ownIdleTimeout ?? Self.defaultIdleTimeout }
        set { ownIdleTimeout = Self.positive(newValue) }
    }
    /// The longest time until the head of the answer is there, interim answers aside; nil, the default, and zero or
    /// less are the idle timeout's alone. Like all three timeouts, it begins when the request has left the transport's
    /// own line.
    public var firstByteTimeout: Duration? {
        didSet { firstByteTimeout = Self.positive(firstByteTimeout) }
    }
    /// The longest time until the end of the body, pauses of its reader included; nil, the default, and zero or less are no
    /// limit.
    public var totalTimeout: Duration? {
        didSet { totalTimeout = Self.positive(totalTimeout) }
    }
    /// How response caches on the way are used.
    public var cachePolicy: HTTPCachePolicy
    /// Whether response caches on the way may store the answer.
    public var allowsStoring: Bool

    /// The idle timeout that the request names itself; nil: none.
    package private(set) var ownIdleTimeout: Duration?

    /// The idle timeout where neither a request nor a downloader names one: 15 seconds.
    public static let defaultIdleTimeout = Duration.seconds(15)

    /// A request; by default a `GET` without fields that uses response caches as HTTP has it.
    public init(
        method: HTTPMethod = .get,
        url: URL,
        fields: HTTPFields = HTTPFields(),
        body: Data? = nil,
        idleTimeout: Duration = .zero,
        firstByteTimeout: Duration? = nil,
        totalTimeout: Duration? = nil,
        cachePolicy: HTTPCachePolicy = .useProtocolCachePolicy,
        allowsStoring: Bool = true
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.cachePolicy = cachePolicy
        self.allowsStoring = allowsStoring
        ownIdleTimeout = Self.positive(idleTimeout)
        self.firstByteTimeout = Self.positive(firstByteTimeout)
        self.totalTimeout = Self.positive(totalTimeout)
    }

    private static func positive(_ timeout: Duration?) -> Duration? {
        timeout.flatMap { $0 > .zero ? $0 : nil }
    }
}
