/// The options of a libcurl transport, which apply to all of its requests.
///
/// ```swift
/// import AlcedoCURL
///
/// var options = CURLOptions()
/// options.allowsPrivateAddresses = false
/// options.proxy = .none
/// options.connectTimeout = .seconds(5)
/// let transport = CURLTransport(options: options)
/// ```
public struct CURLOptions: Sendable {
    /// The maximum number of concurrent transfers, and of connections that are kept open. Further requests wait.
    /// Requests to one host begin in the order they were sent, and hosts take turns. Values below 1 count as 1.
    /// Default: 64.
    public var maxConcurrentTransfers = 64
    /// The maximum number of concurrent transfers to one scheme, host and port. Values below 1 count as 1. Default: 16.
    public var maxConcurrentTransfersPerHost = 16
    /// Whether content codings are requested and decoded. Default: true.
    public var decodesContent = true
    /// The maximum number of decoded bytes of a body with a content coding, which limits compression bombs. A larger
    /// body fails with `bodyTooLarge`. Bodies without a coding are not limited here. Default: 128 MiB.
    public var decodedByteLimit = 128 << 20
    /// The maximum time to connect, including TLS. After that time, the request fails with `timedOut`. Nil, zero or
    /// less means the request's idle timeout, which always applies as well. Default: nil.
    public var connectTimeout: Duration?
    /// The HTTP version. Default: HTTP/2 if a TLS server offers it, otherwise HTTP/1.1.
    public var version = CURLVersion.automatic
    /// Whether `https` requests wait for a connection to their host that is being established, to share it if the host
    /// supports HTTP/2. If false, each request may open its own connection. Default: true.
    package var sharesConnections = true
    /// Whether the cookies of responses are stored in memory and sent to their hosts and paths (RFC 6265; with the
    /// public suffix list if libcurl includes one). Default: false.
    ///
    /// All requests of the transport share the cookies, which are deleted with the transport. A request with its own
    /// `Cookie` field sends only that field, and the cookies of its response are not stored. The cookies take at most 4
    /// MiB; at the limit, all are deleted. A response cache around the transport does not see these cookies, so its
    /// stored responses do not vary by them.
    public var keepsCookies = false
    /// The proxy. Default: the environment's.
    public var proxy = CURLProxy.environment
    /// Whether connections to addresses outside of the public internet are allowed. Default: true. Set this to false in
    /// servers that load URLs from untrusted users.
    ///
    /// If false, connections to private, loopback, link-local, carrier-shared (RFC 6598), multicast and reserved
    /// addresses are refused, for IPv4 and IPv6. The same holds for addresses that map to them (IPv4-mapped, NAT64) and
    /// for addresses of cloud platform services, such as 168.63.129.16. A request whose host has no other address fails
    /// with `addressRefused`.
    ///
    /// Each new connection is checked by its actual address: after name resolution, independent of the spelling of the
    /// URL, and also after a redirect. With a proxy, only the proxy's address is checked; set ``proxy`` to
    /// ``CURLProxy/none`` to rule that out.
    public var allowsPrivateAddresses = true
    /// The certificate authorities that are trusted. Default: the system's.
    public var authorities = CURLCertificateAuthorities.system
    /// The pinned public keys by host name. A listed host must have one of its keys, in addition to a valid
    /// certificate; otherwise requests to it fail with `secureConnectionFailed`. A host that is not listed, or has an
    /// empty set, may have any key. Default: empty.
    ///
    /// Host names are stored in lowercase and without a trailing dot. Names that become equal share their keys.
    public var pinnedKeys: [String: Set<PublicKeyPin>] = [:] {
        didSet {
            pinnedKeys = Dictionary(
                pinnedKeys.map { (Self.normalized(host: $0.key), $0.value) }, uniquingKeysWith: { $0.union($1) })
        }
    }
    /// The hosts whose certificates are not checked, apart from pinned keys. An attacker on the network can read and
    /// change their traffic. Default: empty.
    ///
    /// Host names are stored in lowercase and without a trailing dot.
    public var trustedHosts: Set<String> = [] {
        didSet { trustedHosts = Set(trustedHosts.map(Self.normalized)) }
    }

    /// Creates the default options.
    public init() {}

    /// Returns a host name in lowercase and without a trailing dot, as libcurl uses it. Pins and trusted hosts are
    /// looked up in this form.
    static func normalized(host: String) -> String {
        let name = host.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
