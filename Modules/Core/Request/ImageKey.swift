public import AlcedoRuntime

/// What an image or its bytes are stored under: a resource, and which variant of it.
///
/// The original is the variant with the empty name; a processed image has another, so neither is ever found under the
/// other's key. The hash is computed once, when the key is made, so that a look-up costs no walk over the URL.
public struct ImageKey: Sendable, Hashable, CustomStringConvertible {
    /// What all variants of the image share.
    public let resource: ResourceKey
    /// Size, processors and additional identifier, in a stable spelling; empty for the original. For a local file its
    /// version, too: see ``ImageRequest/tracksFileChanges``.
    public let variant: String
    /// The same for all variants of a resource.
    package let resourceHash: Int
    @usableFromInline let hash: Int

    /// A key; the empty variant is the original.
    public init(_ resource: ResourceKey, variant: String = "") {
        self.resource = resource
        self.variant = variant
        resourceHash = resource.hashValue
        guard !variant.isEmpty else {
            hash = resourceHash
            return
        }
        var hasher = Hasher()
        hasher.combine(resourceHash)
        hasher.combine(variant)
        hash = hasher.finalize()
    }

    /// Copies of one key are told equal by a few bytes of their own; else the strings are compared.
    @inlinable
    public static func == (a: ImageKey, b: ImageKey) -> Bool {
        guard a.hash == b.hash else { return false }
        if a.resource.description.isCopy(of: b.resource.description), a.variant.isCopy(of: b.variant) { return true }
        return a.hasSameStrings(as: b)
    }

    @usableFromInline
    func hasSameStrings(as other: ImageKey) -> Bool {
        resource == other.resource && variant.hasSameBytes(as: other.variant)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    /// The hash as it was computed when the key was made.
    @inlinable public var hashValue: Int { hash }

    /// The key of the same resource's original.
    package var original: ImageKey { ImageKey(resource) }

    public var description: String { variant.isEmpty ? resource.description : "\(resource) [\(variant)]" }

    /// The same in every process and release: 64 hexadecimal digits, the SHA-256 of the key's parts. O(length).
    public var fileName: String { digest.finalizedHexadecimal() }

    /// The digest that ``fileName`` spells, as big-endian words. O(length).
    package var digestWords: SIMD8<UInt32> { digest.finalizedWords() }

    private var digest: SHA256 {
        var digest = SHA256()
        // The length keeps ("ab", "c") and ("a", "bc") apart.
        digest.update("\(resource.description.utf8.count):")
        digest.update(resource.description)
        digest.update(variant)
        return digest
    }
}

extension ImageKey {
    /// The additional identifier under which AFNetworking and AlamofireImage would store this variant; nil for none, as
    /// the original has.
    ///
    /// When the request has processors, an additional identifier, or both, and else only defaults, these are the
    /// processors' identifiers, joined by "_" as AlamofireImage joins those of its filters, followed by the
    /// additional identifier. The version of a local file has no part in it. Any other variant is its own identifier.
    /// Two variants may share an identifier. O(length of the variant).
    package var additionalIdentifier: String? {
        guard !variant.isEmpty else { return nil }
        guard let parts else { return variant }
        var processors: [Substring] = []
        var own: Substring = ""
        for part in parts {
            if part.hasPrefix("process=") {
                processors.append(part.dropFirst("process=".count))
            } else if part.hasPrefix("id=") {
                own = part.dropFirst("id=".count)
            } else if !part.hasPrefix("file=") {
                return variant
            }
        }
        let identifier = processors.joined(separator: "_") + own
        return identifier.isEmpty ? nil : identifier
    }

    /// The parts of a variant as ``ImageRequest`` spells it; nil for any other spelling.
    private var parts: [Substring]? {
        var parts: [Substring] = []
        var rest = Substring(variant)
        while true {
            guard let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")), let length = Int(rest[..<colon]) else {
                return nil
            }
            let start = rest.utf8.index(after: colon)
            guard length >= 0, length <= rest[start...].utf8.count else { return nil }
            let end = rest.utf8.index(start, offsetBy: length)
            parts.append(rest[start..<end])
            rest = rest[end...]
            guard rest.utf8.first == UInt8(ascii: ";") else { return rest.isEmpty ? parts : nil }
            rest = Substring(rest.utf8.dropFirst())
        }
    }
}
