import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

/// The files that a command writes for an image: a thumbnail, the image in another format, or its pixels.
protocol FileMaking: Sendable {
    /// The extension of the files' names, without a dot.
    var fileExtension: String { get }
    /// Whether an image may have a file for each frame.
    var makesFrames: Bool { get }
    /// Whether each image's losses are reported, and not only the totals.
    var reportsLosses: Bool { get }

    /// Loads the image and writes its files to the sink. Returns what was written. Throws the error of loading,
    /// encoding or writing.
    func make(
        _ request: ImageRequest, with tools: FileTools, into sink: OutputSink, progress: @escaping BatchLoad.Progress
    ) async throws -> WrittenImage
}

/// The result of writing the files of an image.
struct WrittenImage: Sendable {
    var size: PixelSize
    var layer: ImageResponse.Layer
    /// The number of encoded bytes read.
    var bytesIn: Int
    var bytesOut: Int
    /// The indices of the written frames; nil stands for the still image. Default: the still image.
    var frames: [Int?] = [nil]
    var losses: [Loss] = []
    /// The damage of the file that was tolerated.
    var damage: ImageDamage?
    /// Whether all frames were written. False after an interruption between frames.
    var isComplete = true
}

/// The tools that file makers share.
struct FileTools: Sendable {
    let pipeline: ImagePipeline
    let codecs: CodecRegistry
    let layers: LayerObserver
    let transfers: TransferProgressObserver
    /// The executor on which files are encoded and written.
    let files: BlockingExecutor
    /// The memory of decoded images, and of their encoders, until their files are written.
    let memory: ByteBudget
    /// The maximum number of bytes that an encoder, and the encoded bytes, hold at once.
    let encodingLimit: Int

    /// Runs `body`, which makes an image of this size and number of frames and encodes it, when the memory for both is
    /// available. What needs more than the limit of `--max-decoded` runs alone, because the size is that before
    /// processors.
    func withMemory<Result: Sendable>(
        for size: PixelSize, _ format: PixelFormat, frameCount: Int = 1, by encoder: (any ImageEncoding)?,
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        let image = PixelBuffer.byteCount(size: size, format: format) ?? .max / 4
        let encoded = encoder?.encodingByteCount(of: size, format: format, frameCount: frameCount) ?? image
        return try await memory.withReservation(of: min(image, .max / 4) + min(encoded, .max / 4), body)
    }

    /// Returns the encoded image. Throws ``/AlcedoCore/ImageEncodingError``, which is `exceedsLimit` if the encoder
    /// holds more memory than the limit.
    func encode(_ image: DecodedImage, by encoder: any ImageEncoding) throws(ImageEncodingError) -> Data {
        try encoder.encode(image, limit: encodingLimit, named: "--max-decoded")
    }

    /// The original bytes of an image, with their properties.
    struct Original: Sendable {
        /// A request with the bytes as its source, so that loading does not fetch them again.
        var request: ImageRequest
        var info: ImageInfo
        var layer: ImageResponse.Layer
        var data: Data

        var byteCount: Int { data.count }
    }

    /// Fetches the bytes of an image and reads its properties without decoding pixels.
    func original(_ request: ImageRequest, progress: @escaping BatchLoad.Progress) async throws -> Original {
        let data = try await transfers.observe(request.source, progress) { try await pipeline.data(for: request) }
        progress(DownloadProgress(received: data.count, expected: data.count))
        var limits = request.decoding.limits
        // Decoders drop metadata that exceeds the limits. The limits are raised here, so that a loss of that metadata
        // is reported.
        limits.maximumMetadataByteCount = max(limits.maximumMetadataByteCount, 32 << 20)
        limits.maximumChunkByteCount = max(limits.maximumChunkByteCount, 32 << 20)
        let info = try await files.run { [limits] in try codecs.inspect(data, limits: limits) }
        var inMemory = request
        inMemory.source = .bytes(data, identity: request.originalKey.description)
        return Original(request: inMemory, info: info, layer: layers.layer(of: request), data: data)
    }

    /// Runs `body`, which makes files of an image's original bytes. If the bytes turn out to be damaged, removes them
    /// from the disk cache, so that the next run fetches them again. The pipeline has read their header only.
    func forgettingDamage(
        of request: ImageRequest, _ body: () async throws -> WrittenImage
    ) async throws -> WrittenImage {
        do {
            let written = try await body()
            if let damage = written.damage, damage.kind > .harmless { await forget(request) }
            return written
        } catch {
            let code: ImageDecodingError.Code? =
                switch error {
                case let error as ImageDecodingError: error.code
                case let error as PipelineError: if case .decoding(let code) = error.code { code } else { nil }
                default: nil
                }
            if code?.meansDamage == true { await forget(request) }
            throw error
        }
    }

    private func forget(_ request: ImageRequest) async {
        await pipeline.cache.remove(request, from: [.original, .response])
    }

    /// Loads an image in the pixel format of its samples and in its `exactColorSpace`.
    ///
    /// - Parameters:
    ///   - original: The original bytes of the image.
    ///   - processors: The processors applied after those of the request, in order.
    ///   - keepsDepth: Whether samples of 16 bits are kept. Otherwise they are reduced to 8 bits.
    ///   - includesAnimation: Whether the image includes the frames of an animation.
    func exactImage(
        of original: Original, applying processors: [any ImageProcessing], keepsDepth: Bool, includesAnimation: Bool
    ) async throws -> DecodedImage {
        var request = original.request
        let exact = original.info.exactFormat
        request.decoding.pixelFormat = keepsDepth ? exact : exact.shallow
        request.decoding.includesAnimation = includesAnimation
        request.colorSpace = original.info.exactColorSpace
        request.processors += processors
        return try await pipeline.load(request).image
    }
}

extension ImageInfo {
    /// The color space that preserves the file's colors: sRGB for inks, for which the output formats have no samples.
    var exactColorSpace: OutputColorSpace { colorModel == .cmyk || colorModel == .ycck ? .sRGB : .embedded }
}

extension FileTools {
    /// Returns the properties of the original that the written file lacks.
    ///
    /// - Parameters:
    ///   - info: The properties of the original file.
    ///   - image: The image that was encoded.
    ///   - data: The contents of the written file.
    /// - Throws: An error if the written file cannot be inspected.
    func losses(from info: ImageInfo, _ image: DecodedImage, in data: Data) throws -> [Loss] {
        // The limits were applied to the original; the written file needs no limit.
        Loss.between(info, image, try codecs.inspect(data, limits: DecodingLimits(maximumPixelCount: .max)))
    }
}

/// An observer that records which images were read from the disk cache, and the errors of disk cache writes.
final class LayerObserver: PipelineObserving {
    let errors = ErrorObserver()
    private let fromDisk = Locked<Set<ResourceKey>>([])

    func pipelineDidReport(_ event: PipelineEvent) {
        errors.pipelineDidReport(event)
        if case .diskHit = event.stage { fromDisk.withLock { _ = $0.insert(event.key.resource) } }
    }

    /// Returns the layer that a loaded image's bytes came from.
    func layer(of request: ImageRequest) -> ImageResponse.Layer {
        // The record is kept: the list may name the same image again, and the second load may share the bytes that were
        // read.
        if fromDisk.withLock({ $0.contains(request.originalKey.resource) }) { return .disk }
        if case .http = request.source { return .network }
        return .local
    }
}

/// A downloader that reports progress to callers that load data instead of an image. The pipeline reports no progress
/// of data loads.
final class TransferProgressObserver: Downloading {
    private let downloader: any Downloading
    /// The observers by resource. Several callers may load the same resource.
    private let observers = Locked<[ResourceKey: [Int: BatchLoad.Progress]]>([:])
    private let lastID = Locked(0)

    init(_ downloader: any Downloading) { self.downloader = downloader }

    func download(
        _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download {
        let resource = request.source.resource
        return try await downloader.download(request) { [self] step in
            progress?(step)
            for observer in observers.withLock({ $0[resource] ?? [:] }).values { observer(step) }
        }
    }

    var modifiesRequests: Bool { downloader.modifiesRequests }

    func modified(_ request: HTTPRequest) async throws -> HTTPRequest { try await downloader.modified(request) }

    func addingDefaultFields(to request: HTTPRequest) -> HTTPRequest { downloader.addingDefaultFields(to: request) }

    var responseCache: (any ResponseCacheAccess)? { downloader.responseCache }

    /// Runs `load` and meanwhile passes the progress of the source's download to `progress`. Returns the result of
    /// `load`, or throws its error.
    func observe<Loaded>(
        _ source: ImageSource, _ progress: @escaping BatchLoad.Progress, while load: () async throws -> Loaded
    ) async throws -> Loaded {
        let resource = source.resource
        let id = lastID.withLock { last in
            last += 1
            return last
        }
        observers.withLock { $0[resource, default: [:]][id] = progress }
        defer {
            observers.withLock { observers in
                observers[resource]?[id] = nil
                if observers[resource]?.isEmpty == true { observers[resource] = nil }
            }
        }
        return try await load()
    }
}
