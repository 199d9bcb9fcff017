public import AlcedoHTTP
public import FoundationEssentials
import Synchronization

/// A request for one image: its source, its processing, and the caches that it may use.
///
/// ```swift
/// var request = ImageRequest(url: url, processors: [Resize(width: 320)])
/// request.timeToLive = .seconds(3_600)
/// request.shouldCache = { $0.image.size.pixelCount <= 4_000_000 }
/// ```
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
    /// How long the memory cache and the disk cache keep what this load stores, from the moment it is stored; nil: as long
    /// as the limits of each cache say. What is in a cache already keeps its time. With zero or less, nothing is kept. A
    /// memory cache without times to live, such as `NSCacheBackend`, ignores it, and so does a response cache. Not part of
    /// the key. Default: nil.
    public var timeToLive: Duration?
    /// The formats that this request decodes, in place of the pipeline's. The pipeline's still write and read processed
    /// images on disk. Not part of the key: an image that a cache has is returned, whichever codec decoded it. Set
    /// ``additionalIdentifier`` as well when two codecs make different images of the same bytes. Copies of a request
    /// share a load; another request with codecs of its own shares the download only. Default: nil.
    public var codecs: CodecRegistry? { didSet { codecsToken = codecs.map { _ in RequestToken() } } }
    /// Whether the caches keep what this load has brought; nil: always. When it returns false, the response reaches the
    /// caller, and neither the image nor its bytes are stored; what is cached already stays, and a response cache decides
    /// by itself. Called once for each load that was not answered from memory, from any thread; must not block. Loads of
    /// bytes alone (`data(for:)`, prefetching to disk) do not call it. Not part of the key. Copies of a request share a
    /// load and one call; other requests share its download and its processing, and decide for themselves. Default: nil.
    public var shouldCache: (@Sendable (_ response: ImageResponse) -> Bool)? {
        didSet { cachingToken = shouldCache.map { _ in RequestToken() } }
    }
    /// How often a failed download is tried again, in place of the downloader's own policy. When requests share a
    /// download, the first request's counts. Sources other than servers are not tried again. Not part of the key.
    /// Default: nil, the downloader's own (`DownloaderConfiguration.retry`).
    public var retry: RetryPolicy?
    /// Changes the request to the server before it is sent: for a token that is needed only when no cache has the
    /// image.
    ///
    /// ```swift
    /// request.modifyRequest = { $0.fields["Authorization"] = try await session.authorization() }
    /// ```
    ///
    /// Called once for each download, from any task; images from memory and disk do not need it, and neither do sources
    /// other than servers. An error that it throws is the cause of the load's error. A response cache gets the changed
    /// request; ``cachePolicy`` is applied after the change. Not part of the key: set ``additionalIdentifier`` as well
    /// when it decides which image the server sends. Copies of a request share a download; requests with other closures
    /// do not share it. Default: nil.
    public var modifyRequest: (@Sendable (_ request: inout HTTPRequest) async throws -> Void)? {
        didSet { modifierToken = modifyRequest.map { _ in RequestToken() } }
    }
    /// What is kept on disk; nil: what the pipeline keeps of all images. Default: nil.
    public var dataCachePolicy: DataCachePolicy?
    /// Whether what is cached is shown at once, and replaced when the source has something newer. Default: false.
    public var showsCachedFirst = false
    /// Whether a larger image that is in memory is accepted: the same, but for ``DecodingOptions/target``. Default: false.
    public var acceptsLargerCachedImage = false
    /// Whether pictures are wanted while the bytes arrive. Of those who share a load, the word of the one who began it counts
    /// for all. Default: false.
    public var wantsPreviews = false
    /// Replaces the source's own identity in every cache, for URLs that carry tokens. nil: the source's. Requests of one
    /// identity share a load; when it fails because of the URL or the fields of one, another with others is tried.
    public var resource: ResourceKey? { didSet { memo = KeyMemo() } }
    /// Whether keys hold the version of a local file: its size, and when its content and its entry in the file system last
    /// changed. An image of an earlier version is then found in no cache, and its key asks the file system once (`stat`, one
    /// or two microseconds on a local disk) whenever it is asked for. Turn it off for files that never change, and where the
    /// file system may block. A file that is not there has no version in its keys. Says nothing of other sources. Default:
    /// true.
    ///
    /// Of a file that changes while it is read, what came is given to the caller and kept nowhere. Not noticed are a
    /// change on a file system that keeps times in whole seconds, if the size stays and the second too; and one on another
    /// machine until the network file system tells of it.
    public var tracksFileChanges = true { didSet { memo = KeyMemo() } }
    /// The version of the local file that work on this request is about; nil: the one it has when a key is asked for.
    package var fileVersion: FileVersion? { didSet { memo = KeyMemo() } }
    /// Tells apart images of one source that the other parameters do not. nil is not the same as empty.
    public var additionalIdentifier: String? { didSet { memo = KeyMemo() } }
    /// Carried along unread. Not part of the key.
    public var userInfo: [String: any Sendable]

    /// Tells ``codecs``, which cannot be compared, apart from those of other requests; nil without them.
    package private(set) var codecsToken: RequestToken?
    /// Tells ``shouldCache`` apart from those of other requests; nil without it.
    package private(set) var cachingToken: RequestToken?
    /// Tells ``modifyRequest`` apart from those of other requests; nil without it.
    package private(set) var modifierToken: RequestToken?

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

    /// A request for the image that `url` names. A scheme that nothing fetches is an error of the load: see
    /// ``ImageSource/url(_:)``.
    public init(url: URL, processors: [any ImageProcessing] = []) {
        self.init(source: ImageSource(url), processors: processors)
    }

    /// The URL of the source, for sources on servers, files, and URLs of other schemes; nil for all others.
    public var url: URL? {
        switch source {
        case .http(let request): request.url
        case .file(let path): URL(filePath: path)
        case .url(let url): url
        case .dataURL, .bytes, .provider, .image: nil
        }
    }

    /// What the finished image is stored under. Equal requests have equal keys. O(length) the first time that a request
    /// is asked, and O(1) afterwards, for its copies too, until they change; for a local file as ``tracksFileChanges`` says.
    public var key: ImageKey {
        if fileNeedingVersion != nil { return withFileVersion.key }
        return memo.key { makeKey() }
    }

    /// The key of the source's bytes as they arrive. O(length); for a local file as ``tracksFileChanges`` says.
    package var originalKey: ImageKey {
        if fileNeedingVersion != nil { return withFileVersion.originalKey }
        return ImageKey(resource ?? source.resource, variant: Self.joined(versionParts))
    }

    /// The key without a version of a local file: of all versions the same.
    package var unversionedKey: ImageKey {
        guard case .file = source else { return key }
        return ImageKey(resource ?? source.resource, variant: Self.joined(variantParts))
    }

    /// Whether more is asked for than the image as it came.
    package var isVariant: Bool {
        guard case .file = source else { return !key.variant.isEmpty }
        return !variantParts.isEmpty
    }

    // MARK: Decoding

    /// The target towards which a pipeline decodes, where the request's own options have none: that of the first
    /// processor. nil where rows are decoded as they are stored, because processors mean upright ones by their targets. Not
    /// part of the key: the finished image is the same.
    package var derivedTarget: TargetSize? {
        guard decoding.target == nil, decoding.appliesOrientation else { return nil }
        return processors.first?.decodingTarget
    }

    /// The options that a pipeline decodes by: the request's own, with ``derivedTarget``.
    package var effectiveDecoding: DecodingOptions {
        var options = decoding
        options.target = options.target ?? derivedTarget
        return options
    }

    // MARK: Versions of a file

    /// The file whose version the keys need and do not know; nil when there is none.
    package var fileNeedingVersion: String? {
        guard tracksFileChanges, fileVersion == nil, case .file(let path) = source else { return nil }
        return path
    }

    /// The request with the version that its local file has now. Asks the file system, where it has to.
    package var withFileVersion: ImageRequest {
        guard let path = fileNeedingVersion else { return self }
        var request = self
        request.fileVersion = FileVersion(path: path)
        return request
    }

    private var versionParts: [String] {
        guard let fileVersion, fileVersion.isPresent else { return [] }
        return ["file=\(fileVersion)"]
    }

    private func makeKey() -> ImageKey {
        ImageKey(resource ?? source.resource, variant: Self.joined(versionParts + variantParts))
    }

    private var variantParts: [String] {
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
        return parts
    }

    private static func joined(_ parts: [String]) -> String {
        // Lengths keep a part that holds the separator from posing as two.
        parts.map { "\($0.utf8.count):\($0)" }.joined(separator: ";")
    }
}

extension ImageRequest: CustomStringConvertible {
    /// The source without credentials, then the target size and the processors where there are any, such as
    /// `https://example.com/a.jpg (target:320x320,fit, circle)`. For logs; not a key.
    public var description: String {
        var parts = processors.map(\.identifier)
        if let target = decoding.target { parts.insert("target:\(target)", at: 0) }
        return parts.isEmpty ? source.shown : "\(source.shown) (\(parts.joined(separator: ", ")))"
    }
}

/// Tells apart values of requests that cannot be compared, such as closures. Copies of a request share it.
package final class RequestToken: Sendable, Hashable {
    package static func == (a: RequestToken, b: RequestToken) -> Bool { a === b }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Remembers the keys of a request, which cost a walk over its URL, from the first time they are asked for.
private final class KeyMemo: Sendable {
    private final class Box: Sendable {
        let key: ImageKey

        init(_ key: ImageKey) { self.key = key }
    }

    private let finished = AtomicLazyReference<Box>()

    /// The key, made by `make` unless it is known.
    func key(_ make: () -> ImageKey) -> ImageKey {
        if let box = finished.load() { return box.key }
        return finished.storeIfNil(Box(make())).key
    }
}
