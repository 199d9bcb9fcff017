public import FoundationEssentials

/// The proxy of a transport.
public enum CURLProxy: Sendable, Hashable {
    /// The proxies in the environment variables `http_proxy`, `https_proxy` and `all_proxy`, with the exceptions in
    /// `no_proxy`, as described in curl's manual.
    case environment
    /// No proxy, whatever the environment contains.
    case none
    /// One proxy for all hosts. The scheme of its URL is `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`.
    /// If the proxy requires a user and a password, the URL includes them.
    case url(URL)
}
