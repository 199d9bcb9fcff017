public import FoundationEssentials

/// The certificate authorities that sign trusted server certificates.
public enum CURLCertificateAuthorities: Sendable, Hashable {
    /// The system's authorities.
    case system
    /// Only the certificates in this PEM file. The file is read for a new connection over TLS. If reading fails, the
    /// request fails with `secureConnectionFailed`. libcurl 7.87 and later may keep the certificates for up to 24 hours
    /// before it reads the file again.
    case file(URL)
    /// Only these certificates in PEM. If no certificate can be read, requests over TLS fail with
    /// `secureConnectionFailed`.
    case pem(Data)
}
