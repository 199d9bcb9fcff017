/// Which HTTP is spoken.
public enum CURLVersion: Sendable, Hashable {
    /// HTTP/2 where a TLS server offers it, else HTTP/1.1.
    case automatic
    /// HTTP/1.1 alone.
    case http1
    /// HTTP/2 without asking first, be it over TLS or not. A server that does not speak it is an error.
    case http2
}
