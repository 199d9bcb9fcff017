public import AlcedoHTTP
public import FoundationEssentials
import Synchronization

/// A request for one image: its source, its processing, and the caches that it may use.
///
/// ```swift
/// var request = ImageRequest(url: url, processors: [.resize(width: 320)])
/// request.timeToLive = .seconds(3_600)
/// request.shouldCache = { $0.image.size.pixelCount <= 4_000_000 }
/// ```
public struct ImageRequest: Sendable {
    /// The source of the encoded bytes.
    public var source: ImageSource {
        didSet {
            isFile = source.isFile
            (sent, variance) = (nil, nil)
            memo = KeyMemo()
        }
    }
    /// The sources that are tried in order after ``source`` has failed, until one succeeds. Default: none.
    ///
    /// ```swift
    /// var request = ImageRequest(url: urls[0])
    /// request.alternativeSources = [ImageSource(urls[1]), .file("/usr/share/app/missing.png")]
    /// ```
    ///
    /// - Each source is loaded as if it were that of the request: from the caches first, by the same options, and with
    ///   its own retries. It is cached under its own key. ``resource`` replaces the URL of ``source`` only, and
    ///   ``modifyRequest`` runs for every server.
    /// - Every error of a load leads to the next source, also an image that cannot be decoded, and one that is in no
    ///   cache if the network may not be used. A cancellation ends the load, and so does a shutdown.
    /// - If all sources fail, the error is that of ``source``; `PipelineError.alternativeErrors` has the others.
    /// - ``ImageResponse/alternativeIndex`` tells which one supplied the image. The progress begins again with each.
    ///
    /// `cachedImage(for:)` looks for the image of ``source`` only. Not part of the key: requests with equal sources
    /// share its load, and each continues with its own alternatives. For copies of one image on several servers, use
    /// `DownloaderConfiguration.alternatives`, which keeps one key.
    public var alternativeSources: [ImageSource] = []
    /// The processors, applied in order after decoding. Default: none.
    public var processors: [any ImageProcessing] { didSet { memo = KeyMemo() } }
    /// The decoding options. All of them except the limits are part of the key.
    public var decoding: DecodingOptions { didSet { memo = KeyMemo() } }
    /// The color space of the image before processing. Default: sRGB.
    ///
    /// A pipeline without a color converter converts nothing. Part of the key.
    public var colorSpace = OutputColorSpace.sRGB { didSet { memo = KeyMemo() } }
    /// The scale of the image, in pixels per point. Default: 1.
    public var scale: Double { didSet { memo = KeyMemo() } }
    /// The initial priority of the load. Default: normal. Not part of the key.
    public var priority: LoadPriority
    /// Whether the download begins at once, without waiting for one of the downloader's concurrent transfers to end:
    /// see ``DownloadRequest/skipsQueue``. Default: false. Not part of the key.
    ///
    /// The limits on memory still apply. When requests share a load, the value of the first request applies.
    public var skipsQueue = false
    /// The caches that may be read and written, and whether the network may be used. Default: all caches and the
    /// network. Not part of the key.
    public var cachePolicy: CachePolicy
    /// The time for which the memory cache keeps the image of this load, counted from the moment it is stored; nil to
    /// apply the limits of the cache. Default: nil.
    ///
    /// ```swift
    /// request.memoryTimeToLive = .seconds(60)
    /// request.diskTimeToLive = .seconds(86_400)
    /// ```
    ///
    /// The value does not change the expiry of an image that a load finds in memory. With zero or less, the image is
    /// not kept, and a load that would replace an image removes it. Memory caches without times to live, such as
    /// `NSCacheBackend`, ignore this value. With any value, the images between the processors are not kept for other
    /// requests. Not part of the key.
    public var memoryTimeToLive: Duration?
    /// The time for which the disk cache keeps the results of this load, the original bytes and the processed image,
    /// counted from the moment they are stored; nil to apply the limits of the cache. Default: nil.
    ///
    /// The value does not change the expiry of an entry that a load finds on disk. With zero or less, nothing is kept,
    /// and a load that would replace an entry removes it. Response caches ignore this value. Not part of the key.
    public var diskTimeToLive: Duration?
    /// The time for which both caches keep the results of this load: ``memoryTimeToLive`` and ``diskTimeToLive``, which
    /// this property sets. Nil if they differ. Default: nil.
    public var timeToLive: Duration? {
        get { memoryTimeToLive == diskTimeToLive ? memoryTimeToLive : nil }
        set { (memoryTimeToLive, diskTimeToLive) = (newValue, newValue) }
    }
    /// The codecs that decode this request instead of the pipeline's codecs; nil for the pipeline's. Default: nil.
    ///
    /// The pipeline's codecs still write and read processed images on disk. The codecs are not part of the key: a
    /// cached image is returned regardless of the codec that decoded it. Set ``additionalIdentifier`` as well when two
    /// codecs produce different images from the same bytes. Copies of a request share a load. Other requests with their
    /// own codecs share only the download.
    public var codecs: CodecRegistry? { didSet { codecsToken = codecs.map { _ in RequestToken() } } }
    /// A closure that decides whether the caches keep the result of this load; nil to always keep it. Default: nil.
    ///
    /// When it returns false, the caller receives the response, but neither the image nor its bytes are stored. Entries
    /// that are already cached stay. A response cache decides on its own.
    ///
    /// Called once for each load that memory does not serve, on any thread; must not block. With ``showsCachedFirst``,
    /// it is called for an image from disk and again for a newer one. Loads of bytes alone (`data(for:)`, prefetching
    /// to disk) do not call it. Not part of the key. Copies of a request share a load and one call. Other requests
    /// share the download and the processing, and call their own closures.
    public var shouldCache: (@Sendable (_ response: ImageResponse) -> Bool)? {
        didSet { cachingToken = shouldCache.map { _ in RequestToken() } }
    }
    /// The retry policy for failed downloads, instead of the downloader's policy; nil for
    /// `DownloaderConfiguration.retry`. Default: nil.
    ///
    /// When requests share a download, the policy of the first request applies. Only downloads from servers are
    /// retried. Not part of the key.
    public var retry: RetryPolicy?
    /// A closure that changes the HTTP request before it is sent, for example to add a token. Default: nil.
    ///
    /// ```swift
    /// request.modifyRequest = { $0.fields["Authorization"] = try await session.authorization() }
    /// request.additionalIdentifier = session.account
    /// ```
    ///
    /// Name what the closure selects, such as the account, in ``additionalIdentifier``. The caches then keep the images
    /// of the account when its token changes, and show them while the token cannot be renewed.
    ///
    /// - **With an identifier**, the closure is called once for each download from a server. Images from memory and
    ///   disk do not call it. Requests with equal identifiers count as equal, also with other closures.
    /// - **Without an identifier**, the closure is called at the start of each load from a server, because only the
    ///   changed request tells whose image it is: caches are read with the changed request, and requests share work if
    ///   their changed requests are equal. `cachedImage(for:)`, which cannot wait for the closure, returns nil.
    ///
    /// It is called again before each further attempt of a failed download, because a token may expire in the meantime.
    /// If the credentials then differ from those of the first attempt, the result is not kept, and a waiting request
    /// with another closure and no identifier loads for itself.
    ///
    /// Called in any task, before a response cache is read. Other sources do not call it. An error that it throws
    /// becomes the cause of the load's error, except for `CancellationError`, which the load throws itself.
    /// ``cachePolicy`` is applied after the change.
    public var modifyRequest: (@Sendable (_ request: inout HTTPRequest) async throws -> Void)? {
        didSet { modifierToken = modifyRequest.map { _ in RequestToken() } }
    }
    /// The data to store on disk; nil for the pipeline's ``DataCachePolicy``. Default: nil.
    public var dataCachePolicy: DataCachePolicy?
    /// The serializer that writes and reads the image of this request on disk, instead of that of the pipeline; nil for
    /// the pipeline's. Default: nil.
    ///
    /// ```swift
    /// request.serializer = DefaultCacheSerializer(format: .webp, quality: 0.6)
    /// request.dataCachePolicy = .processed
    /// ```
    ///
    /// It is used if the ``DataCachePolicy`` stores processed images. Under such a policy, an image that the request
    /// does not change is then also stored in the form of the serializer. Under ``DataCachePolicy/original``, only the
    /// original bytes are stored, as the server has sent them.
    ///
    /// Its ``CacheSerializer/identifier`` is part of the key, in memory and on disk, so that no request gets an image
    /// in the form of another serializer. The downloads and decodes are shared with other requests.
    public var serializer: (any CacheSerializer)? { didSet { memo = KeyMemo() } }
    /// Whether the load first reports the cached image as ``LoadUpdate/cached(_:)``, and then checks the source for a
    /// newer one. Local sources, and requests that may not use the network, are not checked. Default: false.
    public var showsCachedFirst = false
    /// Whether a larger image from memory is accepted if it differs only in ``DecodingOptions/target``, or in the size
    /// of the view that shows it. Like each image in memory, it may have been made before the source changed.
    /// Default: false.
    public var acceptsLargerCachedImage = false
    /// The size of the view for which the first processor resizes the image; nil for a request without a view. Not part
    /// of the key, which contains the processor.
    package var viewTarget: TargetSize?
    /// Whether previews are produced while the bytes arrive: of the decoded part of the image, and of the thumbnail
    /// that a JPEG, HEIF or AVIF file can contain. When requests share a load, the value of the first request applies.
    /// Default: false.
    ///
    /// Some programs change an image and keep the thumbnail of the file. A thumbnail with the aspect ratio of the image
    /// is then shown as a preview, although the image has changed since. The finished image does not contain it. Images
    /// in caches are no previews: see ``showsCachedFirst`` and ``acceptsLargerCachedImage``.
    public var deliversPreviews = false
    /// The maximum number of original bytes for which the response has them in ``ImageResponse/data``; zero for no
    /// bytes. Default: 0. Not part of the key.
    ///
    /// ```swift
    /// request.maximumDataByteCount = 8 << 20
    /// if let data = try await pipeline.load(request).data { try data.write(to: url) }
    /// ```
    ///
    /// Larger originals are left out. The bytes are those that the load has read anyway, and are held as long as the
    /// response, in no budget of the pipeline. Requests with different values share the download and the decode.
    public var maximumDataByteCount = 0
    /// The resource under which all caches store the image, for example to ignore tokens in a URL; nil for the source's
    /// own. Default: nil.
    ///
    /// ```swift
    /// var request = ImageRequest(url: url)
    /// request.resource = ResourceKey(url, ignoringQueryItems: ["signature", "expires"])
    /// ```
    ///
    /// Replaces the URL and nothing else: the method, the body, the fields, and a user name and password in the URL
    /// still distinguish requests. Requests that differ only in their URLs, and have the same resource, share a load.
    /// When the load fails because of the URL of a request, that request fails, and the load is tried again for a
    /// waiting request with another URL.
    public var resource: ResourceKey? { didSet { memo = KeyMemo() } }
    /// Whether keys contain the version of a local file: its size, and the times of the last changes to its content and
    /// status. Default: true.
    ///
    /// Caches then never return an image of an earlier version. Each use of the key reads the version with one `stat`
    /// call, which takes one or two microseconds on a local disk. Set this to false for files that never change, and
    /// when the file system may block. A missing file adds no version. Other sources are not affected.
    ///
    /// When a file changes while it is read, the caller receives the image, and no cache stores it. A change is not
    /// detected if the file system records times in whole seconds, and the change keeps the size and the second. A
    /// change on another machine is not detected until the network file system reports it.
    public var tracksFileChanges = true { didSet { memo = KeyMemo() } }
    /// The version of the local file to load; nil to read the version when a key is needed.
    package var fileVersion: FileVersion? { didSet { memo = KeyMemo() } }
    /// The HTTP request that is sent; nil before a pipeline has resolved the request, and for other sources than
    /// servers.
    package var sent: SentRequest?
    /// The modifiers that have changed the request, for further attempts; nil if none has changed it.
    package var renewal: Renewal?
    /// The variant of the resource, if the responses of the server vary by fields; nil if they do not, or if this is
    /// not known.
    package var variance: Variance? { didSet { memo = KeyMemo() } }
    /// An identifier for images of one source that the other parameters do not distinguish, for example the account
    /// whose token ``modifyRequest`` adds; nil for none. Default: nil. An empty string differs from nil.
    ///
    /// Part of the keys of the image and of its original bytes.
    public var additionalIdentifier: String? { didSet { memo = KeyMemo() } }
    /// Values for the caller and its interceptors, which the pipeline does not use. Default: none. Not part of any key.
    public var userInfo: UserInfo

    /// A token that represents ``codecs``, which cannot be compared; nil without codecs.
    package private(set) var codecsToken: RequestToken?
    /// A token that represents ``shouldCache``; nil without a closure.
    package private(set) var cachingToken: RequestToken?
    /// A token that represents ``modifyRequest``; nil without a closure.
    package private(set) var modifierToken: RequestToken?
    /// Whether ``modifyRequest`` is set.
    package var hasModifier: Bool { modifierToken != nil }

    /// Whether ``source`` is a local file. Stored, because each lookup in memory reads it, and a match on the source
    /// copies the source.
    private var isFile: Bool
    private var memo = KeyMemo()

    /// Creates a request for the image of a source. By default, the image is loaded at full size, without processing,
    /// using all caches.
    public init(
        source: ImageSource,
        processors: [any ImageProcessing] = [],
        decoding: DecodingOptions = DecodingOptions(),
        scale: Double = 1,
        priority: LoadPriority = .normal,
        cachePolicy: CachePolicy = .all,
        resource: ResourceKey? = nil,
        additionalIdentifier: String? = nil,
        userInfo: UserInfo = UserInfo()
    ) {
        self.source = source
        isFile = source.isFile
        self.processors = processors
        self.decoding = decoding
        self.scale = scale
        self.priority = priority
        self.cachePolicy = cachePolicy
        self.resource = resource
        self.additionalIdentifier = additionalIdentifier
        self.userInfo = userInfo
    }

    /// Creates a request for the image at `url`. A URL with an unsupported scheme makes the load fail: see
    /// ``ImageSource/url(_:)``.
    public init(url: URL, processors: [any ImageProcessing] = []) {
        self.init(source: ImageSource(url), processors: processors)
    }

    /// The URL of a source on a server, of a file, or with another scheme; nil for other sources.
    public var url: URL? {
        switch source {
        case .http(let request): request.url
        case .file(let path): URL(filePath: path)
        case .url(let url): url
        case .dataURL, .bytes, .provider, .image, .imageProvider: nil
        }
    }

    /// The key of the finished image. Requests for the same image have equal keys.
    ///
    /// - Complexity: O(length) on the first use, then O(1), also for copies, until the request changes. For a local
    ///   file with ``tracksFileChanges``, O(length) and one `stat` call at each use.
    public var key: ImageKey {
        if needsFileVersion { return withFileVersion.key }
        return memo.withImageKey({ makeKeys() }, { $0 })
    }

    /// Calls `body` with ``key``. Unlike the property, retains nothing once the key has been computed.
    package func withKey<Result>(_ body: (ImageKey) -> Result) -> Result {
        needsFileVersion ? body(withFileVersion.key) : memo.withImageKey({ makeKeys() }, body)
    }

    /// The key of the source's original bytes. Costs as much as ``key``.
    package var originalKey: ImageKey {
        if needsFileVersion { return withFileVersion.originalKey }
        return memo.originalKey { makeKeys() }
    }

    /// The resource in all caches: the source's own, or ``resource`` in place of the URL. The method, the body and the
    /// fields of a request to a server count in either case.
    package var identifiedResource: ResourceKey {
        guard let resource else { return source.resource }
        return switch source {
        case .http(let request): ResourceKey(request, insteadOfURL: resource)
        case .url(let url): resource.distinguished(byCredentialsOf: url)
        case .file, .dataURL, .bytes, .provider, .image, .imageProvider: resource
        }
    }

    /// The key without the version of a local file, the same for all versions.
    package var unversionedKey: ImageKey {
        guard case .file = source else { return key }
        return ImageKey(identifiedResource, variant: Self.joined(variantParts + identityParts))
    }

    /// Whether the request needs a variant other than the original, for example a size, the result of a processor or
    /// the form of a serializer.
    package var isVariant: Bool { serializer != nil || isProcessed }

    /// Whether the image of the request differs from the decoded original.
    package var isProcessed: Bool { !processingParts.isEmpty }

    /// Returns the request with another source. ``resource`` and ``alternativeSources``, which belong to the replaced
    /// source, are removed.
    package func replacingSource(with alternative: ImageSource) -> ImageRequest {
        var request = self
        request.source = alternative
        (request.resource, request.fileVersion, request.alternativeSources) = (nil, nil, [])
        return request
    }

    // MARK: Decoding

    /// The target size derived from the first processor, for requests whose decoding options have no target.
    ///
    /// The value is nil when the first processor needs the full size or there is none. It is also nil when the
    /// orientation is not applied, because processors specify their targets for upright images. Not part of the key,
    /// because the finished image looks the same.
    package var derivedTarget: TargetSize? {
        guard decoding.target == nil, decoding.appliesOrientation else { return nil }
        return processors.first?.decodingTarget
    }

    /// The options for decoding in a pipeline: the request's own options, with ``derivedTarget`` if they have no
    /// target.
    package var effectiveDecoding: DecodingOptions {
        var options = decoding
        options.target = options.target ?? derivedTarget
        return options
    }

    // MARK: Versions of a file

    /// Whether the keys still need the version of a local file.
    package var needsFileVersion: Bool { isFile && tracksFileChanges && fileVersion == nil }

    /// The path of the local file whose version the keys still need; nil when they need none.
    package var fileNeedingVersion: String? {
        guard needsFileVersion, case .file(let path) = source else { return nil }
        return path
    }

    /// The request with the current version of its local file. Accesses the file system if necessary.
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

    private func makeKeys() -> RequestKeys {
        let resource = identifiedResource
        let (version, identity) = (versionParts, identityParts)
        return RequestKeys(
            image: ImageKey(resource, variant: Self.joined(version + variantParts + identity)),
            original: ImageKey(resource, variant: Self.joined(version + identity)))
    }

    /// The parts that distinguish originals of one resource.
    private var identityParts: [String] {
        var parts: [String] = []
        if let additionalIdentifier { parts.append("id=\(additionalIdentifier)") }
        if let variance { parts.append(variance.part) }
        return parts
    }

    /// The parts that distinguish images of one original.
    private var variantParts: [String] {
        processingParts + (serializer.map { ["serializer=\($0.identifier)"] } ?? [])
    }

    private var processingParts: [String] {
        var parts: [String] = []
        if let target = decoding.target { parts.append("target=\(target)") }
        if decoding.alphaMode != .straight { parts.append("alpha=\(decoding.alphaMode.rawValue)") }
        if !decoding.appliesOrientation { parts.append("as-stored") }
        if decoding.pixelFormat != .rgba8 { parts.append("format=\(decoding.pixelFormat.rawValue)") }
        switch decoding.tolerance {
        case .harmless: parts.append("strict")
        case .wrongPixels: break
        case .missingPixels: parts.append("partial")
        }
        if !decoding.includesAnimation { parts.append("still") }
        if decoding.dynamicRange != .standard { parts.append("range=\(decoding.dynamicRange.rawValue)") }
        if colorSpace != .sRGB { parts.append("color=\(colorSpace.rawValue)") }
        parts += processors.map { "process=\($0.identifier)" }
        if scale != 1 { parts.append("scale=\(scale)") }
        return parts
    }

    private static func joined(_ parts: [String]) -> String {
        // The lengths distinguish a part that contains the separator from two parts.
        parts.map { "\($0.utf8.count):\($0)" }.joined(separator: ";")
    }
}

extension ImageRequest: CustomStringConvertible {
    /// The source without credentials, followed by the target size and the processors, such as
    /// `https://example.com/a.jpg (target:320x320,fit, circle)`. For logs; not usable as a key.
    public var description: String {
        var parts = processors.map(\.identifier)
        if let target = decoding.target { parts.insert("target:\(target)", at: 0) }
        return parts.isEmpty ? source.shown : "\(source.shown) (\(parts.joined(separator: ", ")))"
    }
}

/// An identity for a property that cannot be compared, such as a closure. Copies of a request share it.
package final class RequestToken: Sendable, Hashable {
    package static func == (a: RequestToken, b: RequestToken) -> Bool { a === b }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

private final class RequestKeys: Sendable {
    /// The key of the finished image.
    let image: ImageKey
    /// The key of the original bytes.
    let original: ImageKey

    init(image: ImageKey, original: ImageKey) {
        self.image = image
        self.original = original
    }
}

/// The keys of a request, computed on first use, because the computation traverses the URL.
private final class KeyMemo: Sendable {
    /// The computed keys, which this object owns. Set once.
    ///
    /// `AtomicLazyReference` would retain them at each use.
    private let finished = Atomic<Unmanaged<RequestKeys>?>(nil)

    deinit { finished.load(ordering: .acquiring)?.release() }

    /// Calls `body` with the key of the image, which is not retained. Calls `make` if the keys have not been computed
    /// yet.
    func withImageKey<Result>(_ make: () -> RequestKeys, _ body: (ImageKey) -> Result) -> Result {
        keys(make)._withUnsafeGuaranteedRef { body($0.image) }
    }

    /// Returns the key of the original bytes. Calls `make` if the keys have not been computed yet.
    func originalKey(_ make: () -> RequestKeys) -> ImageKey {
        keys(make)._withUnsafeGuaranteedRef { $0.original }
    }

    /// Returns the keys, which live as long as this object.
    private func keys(_ make: () -> RequestKeys) -> Unmanaged<RequestKeys> {
        finished.load(ordering: .acquiring) ?? store(make())
    }

    private func store(_ made: RequestKeys) -> Unmanaged<RequestKeys> {
        let keys = Unmanaged.passRetained(made)
        let (isStored, known) = finished.compareExchange(
            expected: nil, desired: keys, ordering: .acquiringAndReleasing)
        guard !isStored, let known else { return keys }
        // Another thread stored its keys first.
        keys.release()
        return known
    }
}
