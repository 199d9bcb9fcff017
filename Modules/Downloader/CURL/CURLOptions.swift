import AlcedoHTTP
package import FoundationEssentials

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
    /// The maximum number of concurrent transfers. Further requests wait and begin in the order they were sent; their
    /// timeouts start when they begin. Values below 1 count as 1. Default: 64.
    ///
    /// The limit is a safeguard. Limits for each host, priorities and pauses belong to the downloader, whose own limit
    /// should not be higher: see `DownloaderConfiguration.maxConcurrentDownloadsPerHost`.
    public var maxConcurrentTransfers = 64
    /// The maximum number of concurrent transfers with one IP address, so that a machine that hangs does not delay the
    /// others. Values below 1 count as 1. Default: nil, no limit.
    ///
    /// The limit counts the address of each connection, after name resolution. It therefore does not depend on the
    /// spelling of the URL or on the number of names of a machine, and also covers redirects. An IPv6 address that
    /// stands for an IPv4 address (IPv4-mapped, NAT64) is that address. Other IPv6 addresses with the same first 64
    /// bits count as one, because a machine can have them all. A host with several addresses can have as many transfers
    /// with each of them. With a proxy, the proxy's address counts.
    ///
    /// Further requests wait without a connection, begin in the order they were sent, and do not count for
    /// ``maxConcurrentTransfers`` until then. Their timeouts start when they begin.
    public var maxConcurrentTransfersPerAddress: Int?
    /// A closure that receives the URL of a request and whether the request waits for another transfer to end. It is
    /// called on the transport's thread when the request begins, waits for its address, or begins again. It must not
    /// block. Default: nil.
    package var onWait: (@Sendable (URL, _ isWaiting: Bool) -> Void)?
    /// A closure that receives the URL of a request and the name of the address to which it is about to be sent, or for
    /// a permit of which it waits. Addresses that count as one in ``maxConcurrentTransfersPerAddress`` have one name.
    /// It is called on the transport's thread if there is such a limit, and must not block. Default: nil.
    package var onAddress: (@Sendable (URL, _ address: String) -> Void)?
    /// The number of open connections, including those with a transfer, up to which an idle connection is kept for
    /// later requests. With zero or less, connections are not reused: each request opens its own, which closes after
    /// the response. Default: nil, the value of ``maxConcurrentTransfers``.
    public var connectionLimit: Int?
    /// The maximum time for which an idle connection is kept. An older one is not reused. A value below the server's
    /// own limit avoids connections that the server is about to close. Fractions of a second are rounded up. With nil,
    /// zero or less, libcurl's limit applies. Default: nil, 118 seconds.
    public var maximumIdleTime: Duration?
    /// Whether the transport requests and decodes content codings. A request with its own `Accept-Encoding` or `Range`
    /// field is an exception: its response is not decoded. Default: true.
    public var decodesContent = true
    /// The maximum size of a decoded body in bytes, as a limit for compression bombs. A larger decoded body fails with
    /// `bodyTooLarge`. Bodies without a content coding are not limited. Default: 128 MiB.
    public var maximumDecodedByteCount = 128 << 20
    /// The maximum time to establish a connection, including name lookup and TLS. A request that exceeds it fails with
    /// `timedOut`. If the value is nil, zero or negative, the request's idle timeout is used instead. The request's own
    /// timeouts apply in any case. Default: nil.
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
    /// `Cookie` field sends only that field, and the cookies of its response are not stored. A response cache around
    /// the transport does not see these cookies, so its stored responses do not vary by them.
    ///
    /// If the system clock was set by more than a minute since the last request, all cookies are deleted, because their
    /// expiry dates are unknown. When a request ends, all cookies are deleted if they take more than about 4 MiB. They
    /// may already be deleted if they take more than about 2 MiB.
    public var keepsCookies = false
    /// The proxy. Default: the proxies in the environment variables.
    public var proxy = CURLProxy.environment
    /// Whether connections to addresses outside of the public internet are allowed. Default: true. Set this to false in
    /// servers that load URLs from untrusted users.
    ///
    /// If false, connections to private, loopback, link-local, carrier-shared (RFC 6598), multicast and reserved
    /// addresses are refused, for IPv4 and IPv6. The same holds for addresses that map to them (IPv4-mapped, NAT64) and
    /// for addresses of cloud platform services, such as 168.63.129.16. If all addresses of a host are refused,
    /// requests to it fail with `addressRefused`.
    ///
    /// The check uses the actual address of each new connection, after name resolution. It therefore does not depend on
    /// the spelling of the URL, and also covers redirects. With a proxy, only the proxy's address is checked. To
    /// connect without a proxy, set ``proxy`` to ``CURLProxy/none``.
    public var allowsPrivateAddresses = true
    /// The certificate authorities that are trusted. Default: the system's.
    public var authorities = CURLCertificateAuthorities.system
    /// The pinned public keys by host name. Over `https`, a listed host must have one of its keys, in addition to a
    /// valid certificate; otherwise, the request fails with `secureConnectionFailed`. Requests over `http` are not
    /// checked. A host that is not listed, or has an empty set, may have any key. Default: empty.
    ///
    /// Host names are stored in lowercase and without a trailing dot. If two names become equal, their keys are
    /// combined.
    public var pinnedKeys: [String: Set<PublicKeyPin>] = [:] {
        didSet {
            pinnedKeys = Dictionary(
                pinnedKeys.map { (Self.normalized(host: $0.key), $0.value) }, uniquingKeysWith: { $0.union($1) })
        }
    }
    /// The hosts whose certificates are not checked. Their pinned keys are still checked. If such a host has no pinned
    /// keys, an attacker on the network can read and change its traffic. Default: empty.
    ///
    /// Host names are stored in lowercase and without a trailing dot.
    public var trustedHosts: Set<String> = [] {
        didSet { trustedHosts = Set(trustedHosts.map(Self.normalized)) }
    }

    /// Creates the default options.
    public init() {}

    /// Returns a host name in lowercase, in its ASCII form and without a trailing dot, as libcurl uses it. Pins and
    /// trusted hosts are looked up in this form.
    static func normalized(host: String) -> String {
        let name = (InternationalName.ascii(host) ?? host).lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
