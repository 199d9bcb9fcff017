public import AlcedoRuntime
public import FoundationEssentials

/// An HTTP request, as a transport sends it.
///
/// ```swift
/// let request = HTTPRequest(url: url, fields: ["Accept": "image/avif, image/*"], totalTimeout: .seconds(30))
/// let response = try await transport.send(request)
/// ```
public struct HTTPRequest: Sendable, Hashable {
    /// The request method. Default: `GET`.
    public var method: HTTPMethod
    /// The URL of the resource.
    public var url: URL
    /// The header fields, in addition to those that a transport adds. Default: none.
    public var fields: HTTPFields
    /// The body of the request. Default: nil, no body.
    public var body: Data?
    /// The maximum time without a byte from the server, including the time to connect. Zero or less, the default,
    /// selects the timeout of the downloader that sends the request, or 15 seconds.
    public var idleTimeout: Duration {
        get { ownIdleTimeout ?? Self.defaultIdleTimeout }
        set { ownIdleTimeout = Self.positive(newValue) }
    }
    /// The maximum time until the head of the final response arrives; interim responses do not count. With nil, or with
    /// zero or less, only the idle timeout applies. Default: nil.
    ///
    /// All three timeouts begin when the request leaves the transport's queue.
    public var firstByteTimeout: Duration? {
        didSet { firstByteTimeout = Self.positive(firstByteTimeout) }
    }
    /// The maximum time until the end of the body, including pauses of its reader. With nil, or with zero or less,
    /// there is no limit. Default: nil.
    public var totalTimeout: Duration? {
        didSet { totalTimeout = Self.positive(totalTimeout) }
    }
    /// The use of response caches on the path. Default: the rules of HTTP.
    public var cachePolicy: HTTPCachePolicy
    /// Whether response caches on the path may store the response. Default: true.
    public var allowsStoring: Bool

    /// The idle timeout that the request specifies itself; nil if it specifies none.
    package private(set) var ownIdleTimeout: Duration?

    /// The idle timeout if neither the request nor a downloader specifies one: 15 seconds.
    package static let defaultIdleTimeout = Duration.seconds(15)

    /// Creates a request. By default it is a `GET` without fields that uses response caches by the rules of HTTP.
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

/// A request method. Methods are case-sensitive. Source: RFC 9110 section 9.
public struct HTTPMethod: OpenName, Sendable, Hashable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The method that requests the content of a resource.
    public static let get = HTTPMethod(rawValue: "GET")
    /// The method that requests only the head.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// The method that lets the resource process the body.
    public static let post = HTTPMethod(rawValue: "POST")
    /// The method that replaces the content of the resource by the body.
    package static let put = HTTPMethod(rawValue: "PUT")
    /// The method that removes the resource.
    package static let delete = HTTPMethod(rawValue: "DELETE")

    /// The safe methods, which do not change a resource (RFC 9110 section 9.2.1). Unknown methods count as unsafe.
    package static let safe: Set<HTTPMethod> = Set(
        ["GET", "HEAD", "OPTIONS", "TRACE"].map { HTTPMethod(rawValue: $0) })
    /// The idempotent methods (RFC 9110 section 9.2.2).
    package static let idempotent: Set<HTTPMethod> = safe.union([.put, .delete])

    package var isSafe: Bool { Self.safe.contains(self) }
    package var isIdempotent: Bool { Self.idempotent.contains(self) }
}

/// The use of response caches by a request: the policies of `NSURLRequest.CachePolicy`, with the same meaning.
///
/// A policy applies to stored responses that match the request. Responses for requests with other values of the fields
/// in `Vary` are never used. A transport without a cache ignores the policy.
public enum HTTPCachePolicy: String, Sendable, Hashable, CaseIterable {
    /// Follows the rules of HTTP: serves a fresh stored response, otherwise uses the network, with a conditional
    /// request if a response is stored.
    case useProtocolCachePolicy
    /// Uses the network with an unconditional request. Stored responses are not served, but the new response may be
    /// stored.
    case reloadIgnoringLocalCacheData
    /// Uses the network, and instructs the caches on the path not to serve stored responses either. The new response
    /// may be stored.
    case reloadIgnoringLocalAndRemoteCacheData
    /// Serves the stored response regardless of its age, and uses the network only if no response is stored.
    case returnCacheDataElseLoad
    /// Serves the stored response regardless of its age, and never uses the network: offline mode. The request fails
    /// with `notCached` if no response is stored.
    case returnCacheDataDontLoad
    /// Validates the stored response with the server before use, fresh or not: an ordinary reload. A fresh response
    /// with `immutable` is served without validation (RFC 8246), unless the request has `no-cache`, `max-age` or
    /// `min-fresh`.
    case reloadRevalidatingCacheData
}
