public import FoundationEssentials

/// Whose signatures make a server's certificate good.
public enum CURLAuthorities: Sendable, Hashable {
    /// Those of the system.
    case system
    /// Only those in this file of certificates in PEM. It is read for each new connection; when that fails, the
    /// request is `secureConnectionFailed`.
    case file(URL)
    /// Only these certificates in PEM. Without a readable one, requests over TLS are `secureConnectionFailed`.
    case pem(Data)
}
