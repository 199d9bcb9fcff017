/// The HTTP version of a transport.
public enum CURLVersion: Sendable, Hashable {
    /// HTTP/2 if a TLS server offers it, otherwise HTTP/1.1.
    case automatic
    /// HTTP/1.1 only.
    case http1
    /// HTTP/2 without negotiation, with or without TLS. Requests to a server that does not support it fail.
    case http2
}
