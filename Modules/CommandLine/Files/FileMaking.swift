import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

/// Makes files of an image: a thumbnail, the same in another format, its pixels.
protocol FileMaking: Sendable {
    /// Ends the names of the files, without a dot.
    var fileExtension: String { get }
    /// Whether there may be a file for each frame.
    var makesFrames: Bool { get }
    /// Whether a person is told of each image what its file does not keep, and not in sum only.
    var reportsLosses: Bool { get }

    /// Loads the image, and writes what is made of it.
    func make(
        _ request: ImageRequest, with tools: FileTools, into sink: FileSink, progress: @escaping BatchLoad.Progress
    ) async throws -> WrittenImage
}

/// What was made of an image.
struct WrittenImage: Sendable {
    /// Of the files, in pixels.
    var size: PixelSize
    var layer: ImageResponse.Layer
    /// Encoded bytes that were read.
    var bytesIn: Int
    /// Bytes that were written.
    var bytesOut: Int
    /// The frame in each file; nil: the image.
    var frames: [Int?] = [nil]
    var losses: [Loss] = []
    /// False when an interruption has come between the frames.
    var isComplete = true
}

/// What makers of files work with.
struct FileTools: Sendable {
    let pipeline: ImagePipeline
    let codecs: CodecRegistry
    let layers: LayerObserver
    let transfers: TransferProgressObserver
    /// Where they encode and write.
    let files: BlockingExecutor

    /// An image as it came.
    struct Original: Sendable {
        /// For the same bytes; they are not fetched again.
        var request: ImageRequest
        var info: ImageInfo
        var layer: ImageResponse.Layer
        var byteCount: Int
    }

    /// Fetches an image, and reads what it says of itself.
    func original(_ request: ImageRequest, progress: @escaping BatchLoad.Progress) async throws -> Original {
        let data = try await transfers.observe(request.source, progress) { try await pipeline.data(for: request) }
        progress(DownloadProgress(received: data.count, expected: data.count))
        let info = try await files.run { try codecs.inspect(data, limits: request.decoding.limits) }
        var inMemory = request
        inMemory.source = .bytes(data, identity: request.originalKey.description)
        return Original(
            request: inMemory, info: info, layer: layers.layer(of: request), byteCount: data.count)
    }
}

extension FileTools {
    /// What a file that was made of an image does not keep of it.
    ///
    /// - Parameter image: What was encoded.
    func losses(from info: ImageInfo, _ image: DecodedImage, in data: Data) throws -> [Loss] {
        // What was made here is as large as it was let be.
        Loss.between(info, image, try codecs.inspect(data, limits: DecodingLimits(maximumPixelCount: .max)))
    }
}

/// Keeps which images' bytes came from the disk cache; and what went wrong beside the loads.
final class LayerObserver: PipelineObserving {
    let errors = ErrorObserver()
    private let fromDisk = Locked<Set<ResourceKey>>([])

    func pipelineDidReport(_ event: PipelineEvent) {
        errors.pipelineDidReport(event)
        if case .diskHit = event.stage { fromDisk.withLock { _ = $0.insert(event.key.resource) } }
    }

    /// Where the bytes of an image that has been loaded came from.
    func layer(of request: ImageRequest) -> ImageResponse.Layer {
        // It stays: the same image may be on the list again, and share what was read.
        if fromDisk.withLock({ $0.contains(request.originalKey.resource) }) { return .disk }
        if case .http = request.source { return .network }
        return .local
    }
}

/// Tells how transfers go on to those who want the bytes, and not an image, of which the pipeline tells nothing meanwhile.
final class TransferProgressObserver: Downloading {
    private let downloader: any Downloading
    /// By what is loaded; several may want the same.
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

    /// Runs a load of the source, and tells of its bytes meanwhile.
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
