/// What can be chosen; it holds for every request of the transport.
public struct CURLOptions: Sendable {
    /// Most transfers at once, and so most connections; more requests wait, those to one host in the
    /// order they came, and hosts take turns. Default: 64.
    public var connections = 64
    /// Most transfers at once to one host. Default: 16.
    public var connectionsPerHost = 16
    /// Whether content codings are asked for and undone. Default: yes.
    public var decodesContent = true
    /// Most bytes that a coded body may unpack to, against bodies that are small on the wire only; more are
    /// `bodyTooLarge`. Bodies without a coding have no limit here. Default: 128 MiB.
    public var unpackedLimit = 128 << 20
    /// The longest time to connect, TLS included. Nil, the default, and zero or less are the request's idle timeout, which
    /// holds as well.
    public var connectTimeout: Duration?
    /// The HTTP version. Default: HTTP/2 where a TLS server offers it.
    public var version = CURLVersion.automatic
    /// Whether requests to a host wait for a connection that is being made, so as to share it where the host speaks
    /// HTTP/2. Off, they may connect each for itself. Default: yes.
    public var sharesConnections = true
    /// Whether cookies of answers are kept, in memory, and sent back to their hosts and paths (RFC 6265; with the list of
    /// public suffixes where libcurl has one). All requests of the transport share them; they end with it. A request with
    /// a `Cookie` field of its own sends that alone, and what its answer sets is not kept. They take at most 4 MiB; when
    /// these are full, all are forgotten. A response cache around the transport does not see these cookies, so what it
    /// stores does not vary by them. Default: no.
    public var keepsCookies = false
    /// Default: as the environment says.
    public var proxy = CURLProxy.environment
    /// Which addresses are connected to. Default: any.
    public var addresses = CURLAddresses.any
    /// Who vouches for servers. Default: the system's authorities.
    public var authorities = CURLAuthorities.system
    /// The public keys that a host may have, one of which it must have, besides a certificate that is good. Hosts
    /// by their names in lower case; those that are not here, or with no key, may have any. Default: none.
    public var pinnedKeys: [String: Set<PublicKeyPin>] = [:]
    /// Hosts, by their names in lower case, whose certificates are not checked at all, apart from pinned keys:
    /// whoever sits on the way can read and change what they say. Default: none.
    public var trustedHosts: Set<String> = []

    /// The defaults.
    public init() {}
}
