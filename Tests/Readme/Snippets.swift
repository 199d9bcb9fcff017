// The Swift code of README.md and of the modules' own, compiled. `ReadmeTests` compares the two.
import Alcedo
import AlcedoCURL
import AlcedoCodecs
import AlcedoCore
import AlcedoDiskCache
import AlcedoDownloader
import AlcedoJPEG
import AlcedoMemoryCache
import AlcedoPipeline
import AlcedoProcessing
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

let pipeline = ImagePipeline.standard()

func thumbnail(of url: URL) async throws -> DecodedImage? {
    guard var request = ImageRequest(url: url) else { return nil }
    request.processors = [Resize(to: PixelSize(width: 320, height: 320))]
    return try await pipeline.image(for: request)
}

func thumbnail(of data: Data) throws -> Data {
    var jpeg = Data()
    let encoder = JPEGEncoder(quality: 80).makeRowEncoder { bytes in
        bytes.withUnsafeBytes { jpeg.append(contentsOf: $0) }
    }
    let size = PixelSize(width: 320, height: 320)
    let resizer = RowResizer(to: size, next: encoder)
    try CodecRegistry.standard.decodeRows(data, options: DecodingOptions(target: TargetSize(size)), into: resizer)
    return jpeg
}

let small = ImagePipeline(
    ImagePipeline.Configuration(
        downloader: Downloader(transport: CURLTransport()),
        codecs: CodecRegistry([.jpeg]),
        memoryCache: ImageMemoryCache(costLimit: 32 << 20)))

let cache = MemoryCache<String, [UInt8]>(
    limits: MemoryCacheLimits(cost: 64 << 20, timeToLive: .seconds(600)), policy: .adaptive)

func keepThumbnails(in directory: URL) async throws {
    let cache = FileDiskCache(
        directory: directory, limits: DataCacheLimits(size: 512 << 20, count: 100_000, age: .seconds(86_400)),
        pathExtension: "png", onTrim: { report in print("\(report.removals.count) thumbnails went") })
    let key = ImageKey(ResourceKey("https://images.example.org/cat.png"), variant: "200x200")
    try await cache.store(CachedData(Data([1, 2, 3]), metadata: Data("notes".utf8)), for: key)
    let found = await cache.entry(for: key)
    print(found?.data.count ?? 0, await cache.totalSize, await cache.count)
    await cache.flush()
}

@Test(arguments: MemoryCacheConformance.checks)
func conforms(to check: MemoryCacheConformance.Check) async throws {
    try await check { ImageMemoryCache(costLimit: $0.costLimit) }
}

func fetchTwice(_ url: URL, cachingIn directory: URL) async throws {
    let disk = FileDiskCache(directory: directory, sizeLimit: 150 << 20)
    let cache = URLResponseCache(memoryCapacity: 20 << 20, disk: disk)
    let transport = CachingTransport(wrapping: CURLTransport(), cache: cache)
    for _ in 0..<2 {
        let response = try await transport.send(HTTPRequest(url: url))
        let body = try await response.body.collect(limit: 10 << 20)
        print(response.head.status, body.count, response.caching?.source ?? .new)
    }
    await transport.finish()
}

func cacheForTenMinutes() -> URLResponseCache {
    var rules = ResponseCacheRules()
    rules.lifetime = { _, _ in .seconds(600) }
    return URLResponseCache(memoryCapacity: 2 << 20, rules: rules)
}

func fetch(_ url: URL) async throws -> Data {
    var configuration = Downloader.Configuration(maximumConcurrentDownloads: 8)
    configuration.rules.retry = RetryPolicy(maximumAttempts: 3)
    configuration.rules.timeouts.total = .seconds(60)
    let downloader = Downloader(transport: CURLTransport(), configuration: configuration)
    let request = DownloadRequest(.http(HTTPRequest(url: url)), priority: .high)
    let download = try await downloader.download(request) { progress in
        print(progress.received, progress.expected ?? 0)
    }
    return download.data
}

/// A round picture of a person, the same for every app that asks for it by this identifier.
let avatar = Composition(
    Crop(aspect: PixelSize(width: 1, height: 1), at: .top), Resize(width: 96),
    Circle(border: Border(width: 2, color: .white)))

func portrait(_ image: DecodedImage) throws -> DecodedImage { try avatar.process(image) }

/// A JPEG of a picture of any size, in memory for a few rows of it.
func preview(of data: Data) throws -> Data {
    var jpeg = Data()
    let encoder = JPEGEncoder(quality: 80).makeRowEncoder { bytes in
        bytes.withUnsafeBytes { jpeg.append(contentsOf: $0) }
    }
    let work = Composition(Resize(width: 640), ColorAdjustment(saturation: 1.2), Flatten())
    try CodecRegistry.standard.decodeRows(data, options: DecodingOptions(), into: work.rows(into: encoder))
    return jpeg
}

/// Darkens a picture towards its lower edge.
struct Shade: PointProcessing, Hashable {
    var identifier: String { "shade" }

    func work(on header: PixelRowHeader) -> PointWork? {
        PointWork(on: header) { pixels, y in
            let light = 1 - Float(y) / Float(header.size.height) / 2
            for x in pixels.indices { pixels[x] *= SIMD4(light, light, light, 1) }
        }
    }
}

func show(_ url: URL, with pipeline: ImagePipeline) async throws -> DecodedImage? {
    guard let request = ImageRequest(url: url, processors: [Resize(width: 320), Circle()]) else { return nil }
    if let image = pipeline.cachedImage(for: request) { return image }
    let task = pipeline.task(for: request, on: .mainActor) { event in
        if case .progress(let progress) = event { print(progress.received, progress.expected ?? 0) }
    }
    task.priority = .high
    return try await task.response.image
}

/// A cell of a list, which is used again and again.
@MainActor final class PictureCell: ImageDisplaying {
    private(set) var picture: DecodedImage?
    private var binder: ImageBinder?

    func show(_ url: URL, from loader: any ImageLoading) {
        let binder = binder ?? ImageBinder(view: self, loader: loader)
        self.binder = binder
        binder.bind(ImageRequest(url: url))
    }

    func display(_ content: DisplayContent) { picture = content.picture }
}

@MainActor func show(_ request: ImageRequest, by binder: ImageBinder, insteadOf placeholder: DecodedImage) {
    var options = BindingOptions(placeholder: placeholder)
    // What the list has shown already, while the large picture comes.
    options.lowResolution = request
    options.lowResolution?.decoding.target = TargetSize(PixelSize(width: 96, height: 96), mode: .fill)
    options.onProgress = { print($0.received, $0.expected ?? 0) }
    binder.bind(request, options: options) { result in
        if case .failure(let error) = result { print(error) }
    }
}

/// Plays an image by the frame clock of a window.
@MainActor final class Playing {
    private let animator: ImageAnimator
    private let draw: (DecodedImage) -> Void

    init?(_ image: DecodedImage, frames: FramePool, draw: @escaping (DecodedImage) -> Void) {
        guard let animator = ImageAnimator(image, pool: frames) else { return nil }
        self.animator = animator
        self.draw = draw
    }

    func tick(at time: Duration) {
        if let picture = animator.advance(to: time) { draw(picture) }
    }
}

@MainActor func play(_ request: ImageRequest, from loader: any ImageLoading) async {
    let canvas = TerminalCanvas(fileDescriptor: 1) ?? TerminalCanvas(columns: 80, rows: 24)
    let renderer = TerminalRenderer(canvas: canvas, depth: .trueColor)
    let view = TerminalView(renderer: renderer, redrawsInPlace: true) { print($0, terminator: "") }
    let player = TerminalPlayer(view: view, pool: FramePool())
    let binder = ImageBinder(view: player, loader: loader)
    await withCheckedContinuation { ended in binder.bind(request) { _ in ended.resume() } }
    await player.finish()
}
