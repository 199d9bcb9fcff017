public import FoundationEssentials

/// Asks for one image: where it comes from, what is done to it, and which caches may help.
public struct ImageRequest: Sendable {
    /// Where the bytes come from.
    public var source: ImageSource { didSet { memo = KeyMemo() } }
    /// Applied in order after decoding.
    public var processors: [any ImageProcessing] { didSet { memo = KeyMemo() } }
    /// How the bytes are decoded. Its target size, when set, is part of the key.
    public var decoding: DecodingOptions { didSet { memo = KeyMemo() } }
    /// Pixels for each point of a layout, which the image will say. Default: 1.
    public var scale: Double { didSet { memo = KeyMemo() } }
    /// How urgent the load is when it begins. Not part of the key.
    public var priority: LoadPriority
    /// Which layers may be read and written, and whether the network may be used. Not part of the key.
    public var cachePolicy: CachePolicy
    /// What is kept on disk; nil: what the pipeline keeps of all images. Default: nil.
    public var diskContent: DiskContent?
    /// Whether what is cached is shown at once, and replaced when the source has something newer. Default: false.
    public var showsCachedFirst = false
    /// Whether a larger image that is in memory will do: the same, but for ``DecodingOptions/target``. Default: false.
    public var acceptsLarger = false
    /// Whether pictures are wanted while the bytes arrive. Of those who share a load, the word of the one who began it counts
    /// for all. Default: false.
    public var wantsPreviews = false
    /// Replaces the source's own identity in every cache, for URLs that carry tokens. nil: the source's.
    public var resource: ResourceKey? { didSet { memo = KeyMemo() } }
    /// Tells apart images of one source that the other parameters do not. nil is not the same as empty.
    public var additionalIdentifier: String? { didSet { memo = KeyMemo() } }
    /// Carried along unread. Not part of the key.
    public var userInfo: [String: any Sendable]

    private var memo = KeyMemo()

    /// A request for what a source has; by default whole, as it is, through every cache.
    public init(
        source: ImageSource,
        processors: [any ImageProcessing] = [],
        decoding: DecodingOptions = DecodingOptions(),
        scale: Double = 1,
        priority: LoadPriority = .normal,
        cachePolicy: CachePolicy = .all,
        resource: ResourceKey? = nil,
        additionalIdentifier: String? = nil,
        userInfo: [String: any Sendable] = [:]
    ) {
        self.source = source
        self.processors = processors
        self.decoding = decoding
        self.scale = scale
        self.priority = priority
        self.cachePolicy = cachePolicy
        self.resource = resource
        self.additionalIdentifier = additionalIdentifier
        self.userInfo = userInfo
    }

    /// A request for what `url` names.
    ///
    /// - Returns: nil when the scheme is none of `http`, `https`, `file` and `data`, and for a file of another machine.
    public init?(url: URL, processors: [any ImageProcessing] = []) {
        guard let source = ImageSource(url) else { return nil }
        self.init(source: source, processors: processors)
    }

    /// What the finished image is stored under. Equal requests have equal keys. O(length) the first time that a request
    /// is asked, and O(1) afterwards, for its copies too, until they change.
    public var key: ImageKey { memo.key { ImageKey(resource ?? source.resource, variant: variant) } }

    /// The key of the source's bytes as they arrive.
    public var originalKey: ImageKey { ImageKey(resource ?? source.resource) }

    private var variant: String {
        var parts: [String] = []
        if let target = decoding.target { parts.append("target=\(target)") }
        if decoding.alphaMode != .straight { parts.append("alpha=\(decoding.alphaMode.rawValue)") }
        if !decoding.appliesOrientation { parts.append("as-stored") }
        if decoding.pixelFormat != .rgba8 { parts.append("format=\(decoding.pixelFormat.rawValue)") }
        if decoding.allowsPartial { parts.append("partial") }
        if !decoding.includesAnimation { parts.append("still") }
        parts += processors.map { "process=\($0.identifier)" }
        if scale != 1 { parts.append("scale=\(scale)") }
        if let additionalIdentifier { parts.append("id=\(additionalIdentifier)") }
        // Lengths keep a part that holds the separator from posing as two.
        return parts.map { "\($0.utf8.count):\($0)" }.joined(separator: ";")
    }
}
