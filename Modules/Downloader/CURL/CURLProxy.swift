public import FoundationEssentials

/// The proxy of a transport.
public enum CURLProxy: Sendable, Hashable {
    /// The proxies in `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as described in curl's manual.
    case environment
    /// No proxy, whatever the environment contains.
    case none
    /// One proxy for all hosts. The scheme is `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`; the URL
    /// includes the user and the password if the proxy requires them.
    case url(URL)
}
