import AlcedoRuntime
public import FoundationEssentials

/// An HTTP request, as a transport sends it.
///
/// ```swift
/// let request = HTTPRequest(url: url, fields: ["Accept": "image/avif, image/*"], totalTimeout: .seconds(30))
/// let response = try await transport.send(request)
/// ```
///
/// The requests of a pipeline also hold the account and the own fields that tell users apart. Two such requests are
/// equal only if these are.
public struct HTTPRequest: Sendable, Hashable {
    /// The request method. Default: `GET`.
    public var method: HTTPMethod
    /// The URL, with the scheme `http` or `https`. A fragment is not sent.
    public var url: URL
    /// The header fields, in addition to those that a transport adds. Default: none.
    public var fields: HTTPFields
    /// The body of the request. Default: nil, no body.
    public var body: Data?
    /// The maximum time without a byte from the server, including the time to connect. Pauses of the body's reader do
    /// not count. Zero or less, the default, selects the timeout of the downloader that sends the request, or 15
    /// seconds without a downloader. After zero or less is set, the property returns 15 seconds.
    public var idleTimeout: Duration {
        get { ownIdleTimeout ?? Self.defaultIdleTimeout }
        set { ownIdleTimeout = Self.positive(newValue) }
    }
    /// The maximum time until the head of the final response arrives; interim responses do not count. With nil, or with
    /// zero or less, there is no such limit. Default: nil.
    ///
    /// Time in the transport's queue does not count toward any of the three timeouts, except with
    /// `URLSessionTransport`.
    public var firstByteTimeout: Duration? {
        didSet { firstByteTimeout = Self.positive(firstByteTimeout) }
    }
    /// The maximum time until the end of the body, including pauses of its reader. With nil, or with zero or less,
    /// there is no limit. Default: nil.
    public var totalTimeout: Duration? {
        didSet { totalTimeout = Self.positive(totalTimeout) }
    }
    /// The use of response caches between the caller and the network. Default: the rules of HTTP,
    /// `useProtocolCachePolicy`.
    public var cachePolicy: HTTPCachePolicy
    /// Whether response caches between the caller and the network may store the response. Default: true.
    public var allowsStoring: Bool

    /// The user of the request, as the caller knows it; nil if the caller tells no users apart.
    package var audience: Audience?

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

    /// What tells the users of a request apart where the server's responses do not. It is not sent. Caches compare its
    /// two parts like fields of the request.
    package struct Audience: Sendable, Hashable {
        /// The name of ``identifier``.
        package static let identifierName = "alcedo-account"
        /// The name of ``ownFields``.
        package static let ownFieldsName = "alcedo-own-fields"

        /// The account whose request it is; nil if only fields tell users apart.
        package let identifier: String?
        /// A digest of the caller's own fields that the key of the request leaves out; nil without such fields. A
        /// response for one user is for requests with equal ones.
        package let ownFields: String?

        /// Creates the audience of a request without default fields. Returns nil if all users send the same.
        package init?(of request: HTTPRequest, identifier: String?) {
            guard identifier != nil || !request.fields.fields.isEmpty else { return nil }
            let names = request.fieldNamesOutsideKey
            guard identifier != nil || !names.isEmpty else { return nil }
            self.identifier = identifier
            ownFields =
                names.isEmpty
                ? nil
                : SHA256.hexDigest(
                    of: names.map { name in
                        let value = FieldNormalization.value(of: name, in: request) ?? ""
                        return "\(name):\(value.utf8.count):\(value)\n"
                    }.joined())
        }
    }

    private static func positive(_ timeout: Duration?) -> Duration? {
        timeout.flatMap { $0 > .zero ? $0 : nil }
    }
}
