import FoundationEssentials

/// The SHA-256 of a public key as a certificate has it (SubjectPublicKeyInfo in DER). Source: RFC 7469 section 2.4.
///
/// `openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary |
/// openssl base64` prints it.
public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
    /// The hash in Base64.
    private let hash: String

    /// - Parameter text: The hash in Base64, with `sha256//` before it or not; nil when it is no hash.
    public init?(_ text: some StringProtocol) {
        let hash = text.hasPrefix(Self.prefix) ? String(text.dropFirst(Self.prefix.count)) : String(text)
        guard Data(base64Encoded: hash)?.count == 32 else { return nil }
        self.hash = hash
    }

    /// With `sha256//` before it, as curl writes it.
    public var description: String { Self.prefix + hash }

    private static let prefix = "sha256//"
}
