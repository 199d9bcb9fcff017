public import FoundationEssentials

/// The options of a transport, for all of its requests.
public struct CURLOptions: Sendable {
    /// The maximum number of concurrent transfers, and so of connections; more requests wait, those to one host in the
    /// order they came, and hosts take turns. Default: 64.
    public var maxConcurrentTransfers = 64
    /// The maximum number of concurrent transfers to one host. Default: 16.
    public var maxConcurrentTransfersPerHost = 16
    /// Whether content codings are asked for and undone. Default: yes.
    public var decodesContent = true
    /// The maximum number of bytes that a coded body may unpack to, against bodies that are small on the wire only; more are
    /// `bodyTooLarge`. Bodies without a coding have no limit here. Default: 128 MiB.
    public var decodedByteLimit = 128 << 20
    /// The longest time to connect, TLS included. Nil, the default, and zero or less are the request's idle timeout, which
    /// holds as well.
    public var connectTimeout: Duration?
    /// The HTTP version. Default: HTTP/2 where a TLS server offers it.
    public var version = CURLVersion.automatic
    /// Whether requests to a host wait for a connection that is being made, so as to share it where the host speaks
    /// HTTP/2. Off, they may connect each for itself. Default: yes.
    package var sharesConnections = true
    /// Whether cookies of answers are kept, in memory, and sent back to their hosts and paths (RFC 6265; with the list of
    /// public suffixes where libcurl has one). All requests of the transport share them; they end with it. A request with
    /// a `Cookie` field of its own sends that alone, and what its answer sets is not kept. They take at most 4 MiB; when
    /// these are full, all are forgotten. A response cache around the transport does not see these cookies, so what it
    /// stores does not vary by them. Default: no.
    public var keepsCookies = false
    /// Default: as the environment says.
    public var proxy = CURLProxy.environment
    /// Whether connections may go to other addresses than those of the open internet. Default: yes. Turn it off in servers
    /// that fetch what strangers name.
    ///
    /// Off, no connection goes to an address that is private, of this machine or link, shared by a carrier's customers,
    /// multicast or reserved, in version 4 or 6 of the protocol, nor to one that leads to such (IPv4-mapped, NAT64), nor to
    /// one at which a cloud serves its own machines, such as 168.63.129.16. A request that finds no other address is
    /// `addressRefused`. Each new connection is judged by the address that it goes to: however the URL spells it, whatever
    /// the host's name resolves to at that moment, and after a redirect as before. With a proxy that is the proxy's address:
    /// set ``CURLProxy/none``.
    public var allowsPrivateAddresses = true
    /// Who vouches for servers. Default: the system's authorities.
    public var authorities = CURLCertificateAuthorities.system
    /// The public keys that a host may have, one of which it must have, besides a certificate that is good. A host that
    /// is not here, or has no key, may have any. Default: none.
    ///
    /// Names are kept in lower case and without a dot at the end, whichever way they are set. Names that become equal share
    /// their keys.
    public var pinnedKeys: [String: Set<PublicKeyPin>] = [:] {
        didSet {
            pinnedKeys = Dictionary(
                pinnedKeys.map { (Self.normalized(host: $0.key), $0.value) }, uniquingKeysWith: { $0.union($1) })
        }
    }
    /// The hosts whose certificates are not checked at all, apart from pinned keys: anyone between can read and change what
    /// they send. Default: none.
    ///
    /// Names are kept in lower case and without a dot at the end, whichever way they are set.
    public var trustedHosts: Set<String> = [] {
        didSet { trustedHosts = Set(trustedHosts.map(Self.normalized)) }
    }

    /// The defaults.
    public init() {}

    /// The name of a host as pins and exceptions are looked up by, which is how libcurl sees it.
    static func normalized(host: String) -> String {
        let name = host.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}

/// Which HTTP is spoken.
public enum CURLVersion: Sendable, Hashable {
    /// HTTP/2 where a TLS server offers it, else HTTP/1.1.
    case automatic
    /// HTTP/1.1 alone.
    case http1
    /// HTTP/2 without asking first, be it over TLS or not. A server that does not speak it is an error.
    case http2
}

/// Who stands between this machine and the servers.
public enum CURLProxy: Sendable, Hashable {
    /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say, as curl's manual describes.
    case environment
    /// None, whatever the environment says.
    case none
    /// This one, for every host: `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`, with the user and the
    /// password in it where it wants them.
    case url(URL)
}

/// Whose signatures make a server's certificate good.
public enum CURLCertificateAuthorities: Sendable, Hashable {
    /// Those of the system.
    case system
    /// Only those in this file of certificates in PEM. It is read for each new connection; when that fails, the
    /// request is `secureConnectionFailed`.
    case file(URL)
    /// Only these certificates in PEM. Without a readable one, requests over TLS are `secureConnectionFailed`.
    case pem(Data)
}

/// The SHA-256 of a public key as a certificate has it (SubjectPublicKeyInfo in DER). Source: RFC 7469 section 2.4.
///
/// `openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary |
/// openssl base64` prints it.
public struct PublicKeyPin: Sendable, Hashable {
    /// The hash in Base64.
    private let hash: String

    /// - Parameter text: The hash in Base64, with `sha256//` before it or not; nil when it is no hash.
    public init?(_ text: some StringProtocol) {
        let hash = text.hasPrefix(Self.prefix) ? String(text.dropFirst(Self.prefix.count)) : String(text)
        guard Data(base64Encoded: hash)?.count == 32 else { return nil }
        self.hash = hash
    }

    /// With `sha256//` before it, as libcurl takes it.
    var text: String { Self.prefix + hash }

    private static let prefix = "sha256//"
}
