import FoundationEssentials

/// The metadata of an entry on disk: the digest of the original bytes from which its image was made, or of the entry's
/// own bytes if they are the original. It tells whether an image is older than the bytes that are known now.
///
/// The format is nine bytes: 0xA2, and the XXH64 digest, little-endian. Other metadata, such as the empty one of a
/// foreign entry, has no digest.
enum DigestMetadata {
    private static let signature: UInt8 = 0xA2

    /// Returns the metadata for a digest; empty if the digest is not known.
    static func data(_ digest: UInt64?) -> Data {
        guard let digest else { return Data() }
        return Data([signature] + (0..<8).map { UInt8(truncatingIfNeeded: digest >> (8 * $0)) })
    }

    /// Returns the digest in the metadata of an entry; nil if there is none.
    static func digest(in metadata: Data) -> UInt64? {
        guard metadata.count == 9, metadata.first == signature else { return nil }
        return metadata.dropFirst().reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
