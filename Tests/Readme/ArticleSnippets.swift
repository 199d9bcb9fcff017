// The Swift code of the modules' catalogs that is not in a README, compiled. `ReadmeTests` compares the two.
import Alcedo
import AlcedoCURL
import AlcedoCodecs
import AlcedoCore
import AlcedoDiskCache
import AlcedoDownloader
import AlcedoGIF
import AlcedoJPEG
import AlcedoMemoryCache
import AlcedoNSCache
import AlcedoPNG
import AlcedoPipeline
import AlcedoProcessing
import AlcedoRedisCache
import AlcedoSQLiteCache
import AlcedoTesting
import AlcedoURLResponseCache
import AlcedoURLSession
import AlcedoWebP
import FoundationEssentials
import Synchronization
import Testing

func frameCount(of file: Data) throws -> Int {
    try GIFDecoder().decode(file, options: DecodingOptions()).frames?.frameCount ?? 1
}

func smallPhoto(_ file: Data) throws -> DecodedImage {
    let target = TargetSize(PixelSize(width: 640, height: 640))
    return try JPEGDecoder().decode(file, options: DecodingOptions(target: target))
}

func pngSize(of file: Data) throws -> PixelSize {
    try PNGDecoder().inspect(file, limits: DecodingLimits()).size
}

func webP(_ image: DecodedImage) throws -> Int {
    try WebPEncoder(compression: .lossy(quality: 80)).encode(image).count
}

func signedRequest(for url: URL) -> ImageRequest? {
    guard var request = ImageRequest(url: url) else { return nil }
    request.decoding.target = TargetSize(PixelSize(width: 320, height: 320))
    request.cachePolicy = .revalidate
    request.resource = ResourceKey(url, ignoringQueryItems: ["token", "expires"])
    return request
}

func smallThumbnails(in directory: URL) -> SQLiteDiskCache {
    SQLiteDiskCache(directory: directory, limits: DataCacheLimits(size: 256 << 20, age: nil))
}

func sharedBytes(on host: String) -> RedisDataCache {
    var options = RedisOptions(address: .network(host: host, port: 6379))
    options.prefix = "thumbnails:"
    return RedisDataCache(options)
}

func transport(trusting certificates: CURLAuthorities) -> CURLTransport {
    var options = CURLOptions()
    options.connectionsPerHost = 8
    options.authorities = certificates
    return CURLTransport(options: options)
}

let portable: any HTTPTransport = URLSessionTransport()

let requests = RequestImageCache(NSCacheBackend(costLimit: 32 << 20))

func withDatabase(in directory: URL) -> ImagePipeline {
    var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
    configuration.diskCache = SQLiteDiskCache(directory: directory, sizeLimit: 256 << 20)
    return ImagePipeline(configuration)
}

func withAnswersOnly(in directory: URL) -> ImagePipeline {
    let answers = URLResponseCache(
        memoryCapacity: 16 << 20, disk: FileDiskCache(directory: directory, sizeLimit: 256 << 20))
    var configuration = ImagePipeline.Configuration.standard(
        cacheDirectory: nil, downloader: Downloader.standard(responses: answers))
    configuration.memoryCache = nil
    configuration.responseCache = answers
    return ImagePipeline(configuration)
}

func isWorthAnotherTry(_ error: any Error) -> Bool {
    guard let error = error as? PipelineError, error.code == .download else { return false }
    guard let cause = error.cause as? DownloadError else { return false }
    switch cause.code {
    case .transport, .status(503): return true
    default: return false
    }
}

final class PlainMemoryCache: MemoryCaching {
    private let costLimit: Int
    private let images = Mutex<[ImageKey: DecodedImage]>([:])

    init(costLimit: Int) { self.costLimit = costLimit }

    var totalCost: Int { images.withLock { Self.cost(of: $0) } }

    func image(for key: ImageKey) -> DecodedImage? { images.withLock { $0[key] } }

    func contains(_ key: ImageKey) -> Bool { images.withLock { $0[key] != nil } }

    func store(_ image: DecodedImage, for key: ImageKey) {
        images.withLock { images in
            images[key] = nil
            guard image.cost <= costLimit else { return }
            if Self.cost(of: images) + image.cost > costLimit { images.removeAll() }
            images[key] = image
        }
    }

    func remove(_ key: ImageKey) -> Bool { images.withLock { $0.removeValue(forKey: key) != nil } }

    func removeAll(of resource: ResourceKey) -> Int {
        images.withLock { images in
            let variants = images.keys.filter { $0.resource == resource }
            for key in variants { images[key] = nil }
            return variants.count
        }
    }

    func removeAll() { images.withLock { $0.removeAll() } }

    func trim(toCost cost: Int) {
        images.withLock { images in
            if Self.cost(of: images) > cost { images.removeAll() }
        }
    }

    private static func cost(of images: [ImageKey: DecodedImage]) -> Int { images.values.reduce(0) { $0 + $1.cost } }
}

@Test(arguments: MemoryCacheConformance.checks)
func plainCacheConforms(to check: MemoryCacheConformance.Check) async throws {
    try await check { PlainMemoryCache(costLimit: $0.costLimit) }
}

extension ImageFormat {
    static let grayMap = ImageFormat(rawValue: "graymap")
}

struct GrayMapDecoder: ImageDecoding {
    private static let headerLength = 8

    func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        let header = [UInt8](data.prefix(Self.headerLength))
        guard header.count == Self.headerLength else { throw ImageDecodingError(.truncated, "the header ends early") }
        let size = PixelSize(
            width: Int(header[4]) << 8 | Int(header[5]), height: Int(header[6]) << 8 | Int(header[7]))
        guard size.width > 0, size.height > 0 else { throw ImageDecodingError(.corrupt, "there are no pixels") }
        guard size.width * size.height <= limits.maximumPixelCount else {
            throw ImageDecodingError(.exceedsLimit, "\(size.width) x \(size.height) pixels are too many")
        }
        return ImageInfo(format: .grayMap, size: size, colorModel: .gray)
    }

    func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        let size = try inspect(data, limits: options.limits).size
        let samples = [UInt8](data.dropFirst(Self.headerLength))
        guard samples.count >= size.width * size.height else {
            throw ImageDecodingError(.truncated, "the samples end early")
        }
        let format: PixelFormat = options.pixelFormat == .gray8 ? .gray8 : .rgba8
        guard PixelBuffer.byteCount(size: size, format: format) ?? .max <= options.limits.maximumByteCount else {
            throw ImageDecodingError(.exceedsLimit, "the picture is too large")
        }
        let width = format.bytesPerPixel
        let pixels = PixelBuffer(size: size, format: format, alphaMode: .opaque) { memory, bytesPerRow in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    for channel in 0..<width {
                        let sample = channel == 3 ? 255 : samples[y * size.width + x]
                        memory[y * bytesPerRow + x * width + channel] = sample
                    }
                }
            }
        }
        guard let pixels else { throw ImageDecodingError(.outOfMemory, "the system refused the memory") }
        return DecodedImage(pixels: pixels, format: .grayMap)
    }
}

extension CodecRegistry.Entry {
    static var grayMap: Self {
        Self(format: .grayMap, decoder: GrayMapDecoder(), signatures: [FormatSignature(Array("GRY1".utf8))])
    }
}

let formats = CodecRegistry(CodecRegistry.standard.entries + [.grayMap])

@Test func `the codec of the article decodes whole files, and throws for every prefix of one`() throws {
    let file = Data("GRY1".utf8) + Data([0, 2, 0, 1, 10, 200])
    let image = try formats.decode(file)

    #expect(image.size == PixelSize(width: 2, height: 1))
    #expect(image.format == .grayMap)
    #expect(image.pixels.withUnsafeBytes { Array($0.prefix(8)) } == [10, 10, 10, 255, 200, 200, 200, 255])
    for length in 0..<file.count {
        #expect(throws: ImageDecodingError.self) {
            try GrayMapDecoder().decode(file.prefix(length), options: DecodingOptions())
        }
    }
}
