import AlcedoCore

/// The hashes of Digest authentication. Source: RFC 7616 section 3.4.2.
enum DigestAlgorithm: String {
    case sha256 = "sha-256"
    case sha256Session = "sha-256-sess"
    case md5 = "md5"
    case md5Session = "md5-sess"

    /// Whether the nonces are part of the first hash.
    var isSession: Bool { self == .sha256Session || self == .md5Session }

    /// More is stronger.
    var strength: Int { self == .sha256 || self == .sha256Session ? 1 : 0 }

    /// The hash of the parts with colons between them, in hexadecimal.
    func hash(_ parts: [UInt8]...) -> [UInt8] {
        let message = Array(parts.joined(separator: [UInt8(ascii: ":")]))
        guard strength > 0 else { return Array(MD5.hexDigest(of: message).utf8) }
        var hash = SHA256()
        hash.update(message)
        return Array(hash.finalizedHexadecimal().utf8)
    }
}
