public import FoundationEssentials

/// The certificate authorities that sign trusted server certificates.
public enum CURLCertificateAuthorities: Sendable, Hashable {
    /// The system's authorities.
    case system
    /// Only the certificates in this PEM file. It is read for each new connection; if that fails, the request fails
    /// with `secureConnectionFailed`.
    case file(URL)
    /// Only these certificates in PEM. If none can be read, requests over TLS fail with `secureConnectionFailed`.
    case pem(Data)
}
