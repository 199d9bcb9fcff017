public import FoundationEssentials

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
