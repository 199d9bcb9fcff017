import FoundationEssentials

/// The SHA-256 hash of a public key in a certificate (SubjectPublicKeyInfo in DER). Source: RFC 7469 section 2.4.
///
/// ```swift
/// import AlcedoCURL
///
/// var options = CURLOptions()
/// if let pin = PublicKeyPin("MK9jSpj8t5ZEMHVIUqOyvpqNrrUYStQOxiZJgJy0SGs=") {
///     options.pinnedKeys["images.example.com"] = [pin]
/// }
/// ```
///
/// To print the hash of a certificate's key, run `openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin
/// -outform der | openssl dgst -sha256 -binary | openssl base64`.
public struct PublicKeyPin: Sendable, Hashable {
    /// The hash in Base64.
    private let hash: String

    /// Creates a pin; nil if the text is not the Base64 of a SHA-256 hash.
    ///
    /// - Parameter text: The hash in Base64, with or without the prefix `sha256//`.
    public init?(_ text: some StringProtocol) {
        let hash = text.hasPrefix(Self.prefix) ? String(text.dropFirst(Self.prefix.count)) : String(text)
        guard Data(base64Encoded: hash)?.count == 32 else { return nil }
        self.hash = hash
    }

    /// The hash with the prefix `sha256//`, as libcurl expects it.
    var text: String { Self.prefix + hash }

    private static let prefix = "sha256//"
}
