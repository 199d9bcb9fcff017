public import AlcedoRuntime

/// The key under which caches store an image or its bytes: a resource and a variant of it.
///
/// ```swift
/// let key = ImageRequest(url: url).key
/// let image = cache.image(for: key)
/// ```
///
/// The original has the empty variant, or one with only the version of a local file. A processed image has another
/// variant, so its key differs from that of the original. The hash is computed once, when the key is created, so a
/// lookup does not hash the URL again.
public struct ImageKey: Sendable, Hashable, CustomStringConvertible {
    /// The resource, shared by all variants of the image.
    public let resource: ResourceKey
    /// The decoding options, processors, scale, serializer and additional identifier that differ from their defaults,
    /// in a stable form; empty for the original. For a local file, the variant also contains the version of the file:
    /// see ``ImageRequest/tracksFileChanges``.
    public let variant: String
    @usableFromInline let hash: Int

    /// Creates a key. The empty variant denotes the original.
    public init(_ resource: ResourceKey, variant: String = "") {
        self.resource = resource
        self.variant = variant
        let resourceHash = resource.hashValue
        guard !variant.isEmpty else {
            hash = resourceHash
            return
        }
        var hasher = Hasher()
        hasher.combine(resourceHash)
        hasher.combine(variant)
        hash = hasher.finalize()
    }

    /// Whether two keys are equal. Copies of a key compare in O(1), by the storage of their strings. Other keys with
    /// equal hashes compare their strings.
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

    /// Feeds the precomputed hash to the hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    /// The hash computed when the key was created.
    @inlinable public var hashValue: Int { hash }

    /// The hash of the resource, the same for all its variants. O(1) for the original. Computed for a variant, so that
    /// a key takes 40 bytes.
    package var resourceHash: Int { variant.isEmpty ? hash : resource.hashValue }

    /// The key of the same resource with the empty variant.
    package var original: ImageKey { ImageKey(resource) }

    /// The resource, followed by the variant in brackets if there is one.
    public var description: String { variant.isEmpty ? resource.description : "\(resource) [\(variant)]" }

    /// The SHA-256 digest of the resource and the variant as 64 hexadecimal digits. The same in every process and
    /// release. O(length).
    public var fileName: String { digest.finalizedHexadecimal() }

    /// The digest of ``fileName`` as big-endian words. O(length).
    package var digestWords: SIMD8<UInt32> { digest.finalizedWords() }

    private var digest: SHA256 {
        var digest = SHA256()
        // The length distinguishes ("ab", "c") from ("a", "bc").
        digest.update("\(resource.description.utf8.count):")
        digest.update(resource.description)
        digest.update(variant)
        return digest
    }
}

extension ImageKey {
    /// The additional identifier under which AFNetworking and AlamofireImage would store this variant; nil for the
    /// original.
    ///
    /// If the variant contains only processors and an additional identifier, or one of them, the value is the
    /// identifiers of the processors, joined by "_", followed by the additional identifier. AlamofireImage joins the
    /// identifiers of its filters in the same way. The version of a local file is ignored. For any other variant, the
    /// value is the whole variant. Two variants may have the same value. O(length of the variant).
    package var additionalIdentifier: String? {
        guard !variant.isEmpty else { return nil }
        guard let parts else { return variant }
        var processors: [Substring] = []
        var additional: Substring = ""
        for part in parts {
            if part.hasPrefix("process=") {
                processors.append(part.dropFirst("process=".count))
            } else if part.hasPrefix("id=") {
                additional = part.dropFirst("id=".count)
            } else if !part.hasPrefix("file=") {
                return variant
            }
        }
        let identifier = processors.joined(separator: "_") + additional
        return identifier.isEmpty ? nil : identifier
    }

    /// Whether original bytes are stored under this key. Its variant then says only which ones: the version of a file,
    /// the additional identifier, and the fields by which the server varies. False for a variant of another form.
    /// O(length of the variant).
    package var isOriginal: Bool {
        guard !variant.isEmpty else { return true }
        return parts?.allSatisfy { part in ["file=", "id=", "vary="].contains { part.hasPrefix($0) } } ?? false
    }

    /// The parts of a variant created by ``ImageRequest``; nil for any other form.
    package var parts: [Substring]? {
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
