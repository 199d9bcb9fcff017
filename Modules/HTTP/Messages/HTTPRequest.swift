public import AlcedoRuntime
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
    /// is the default of the downloader that sends the request, else 15 seconds.
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
    package static let defaultIdleTimeout = Duration.seconds(15)

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

/// A request method. Case matters. Source: RFC 9110 section 9.
public struct HTTPMethod: OpenName, Sendable, Hashable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Asks for the content.
    public static let get = HTTPMethod(rawValue: "GET")
    /// Asks for the head alone.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// Has the body processed.
    public static let post = HTTPMethod(rawValue: "POST")
    /// Puts the body in the place of the content.
    package static let put = HTTPMethod(rawValue: "PUT")
    /// Has the content removed.
    package static let delete = HTTPMethod(rawValue: "DELETE")

    /// Those that ask for nothing to be done. Source: RFC 9110 section 9.2.1; of unknown methods nobody knows it.
    package static let safe: Set<HTTPMethod> = Set(
        ["GET", "HEAD", "OPTIONS", "TRACE"].map { HTTPMethod(rawValue: $0) })
    /// Those that do no more when they are sent twice. Source: RFC 9110 section 9.2.2.
    package static let idempotent: Set<HTTPMethod> = safe.union([.put, .delete])

    package var isSafe: Bool { Self.safe.contains(self) }
    package var isIdempotent: Bool { Self.idempotent.contains(self) }
}

/// How a request uses the response caches on its way: the policies of `NSURLRequest.CachePolicy`, with their meaning.
///
/// What a policy reads is said of answers that were stored for such a request; answers for requests with other fields
/// (`Vary`) are never used. A transport without a cache ignores it.
public enum HTTPCachePolicy: String, Sendable, Hashable, CaseIterable {
    /// As HTTP has it: a fresh answer from the store, else the network, on condition where something is stored.
    case useProtocolCachePolicy
    /// Always the network, without a condition; what is stored is not read, the answer may be stored.
    case reloadIgnoringLocalCacheData
    /// The same, and the caches on the way are told not to answer from their stores either.
    case reloadIgnoringLocalAndRemoteCacheData
    /// What is stored, whatever its age; the network only when there is nothing.
    case returnCacheDataElseLoad
    /// What is stored, whatever its age, and never the network: offline mode. Nothing stored is the error `notCached`.
    case returnCacheDataDontLoad
    /// What is stored, fresh or not, only after the server has confirmed it: an ordinary reload. A fresh response that
    /// is `immutable` needs no confirmation (RFC 8246), unless the request has `no-cache`, `max-age` or `min-fresh`.
    case reloadRevalidatingCacheData
}
