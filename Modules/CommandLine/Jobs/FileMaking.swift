import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

/// The files that a command writes for an image: a thumbnail, the image in another format, or its pixels.
protocol FileMaking: Sendable {
    /// The extension of the files' names, without a dot.
    var fileExtension: String { get }
    /// The sizes of the files of each image, or none for one file whose size is not an option. Default: none.
    var sizes: [Int] { get }
    /// Whether an image may have a file for each frame. Default: false.
    var makesFrames: Bool { get }
    /// Whether each image's losses are reported, and not only the totals.
    var reportsLosses: Bool { get }

    /// Loads the image and writes its files to the sink. Returns the files and the damage that was tolerated.
    /// Throws the error of loading, encoding or writing.
    func make(
        _ request: ImageRequest, with tools: FileTools, into sink: OutputSink, progress: @escaping BatchLoad.Progress
    ) async throws -> WrittenImage
}

extension FileMaking {
    var sizes: [Int] { [] }

    var makesFrames: Bool { false }
}

/// The result of writing the files of an image.
struct WrittenImage: Sendable {
    var files: [WrittenFile]
    var layer: ImageResponse.Layer
    /// The number of encoded bytes read.
    var bytesIn: Int
    /// The damage of the file that was tolerated. Default: none.
    var damage: ImageDamage?
    /// Whether all frames were written. False after an interruption between frames. Default: true.
    var isComplete = true

    /// Whether every file had been written by an earlier run and is kept.
    var isKept: Bool { !files.isEmpty && files.allSatisfy(\.isKept) }

    /// The properties that at least one file lacks.
    var losses: [Loss] { Loss.allCases.filter { loss in files.contains { $0.losses.contains(loss) } } }
}

/// A file of an image.
struct WrittenFile: Sendable {
    /// The path that messages and results show: `-` for standard output.
    var path: String
    /// The size in pixels, or nil for a file that is kept.
    var size: PixelSize?
    var byteCount: Int
    /// The index of the frame, or nil for the still image. Default: nil.
    var frame: Int?
    var losses: [Loss] = []
    /// Whether an earlier run has written the file. Default: false.
    var isKept = false
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
    /// The queue of conversions to several files, which share ``memory``.
    let conversions: ImageConversionQueue
    let timeLimit: TimeLimit

    /// Runs `body`, which makes an image of this size and number of frames and encodes it, when the memory for both is
    /// available. What needs more than the limit of `--max-decoded` runs alone, because the size is that before
    /// processors. Throws the error of `body`, and ``OutputError`` after the time limit.
    func withMemory<Result: Sendable>(
        for size: PixelSize, _ format: PixelFormat, frameCount: Int = 1, by encoder: (any ImageEncoding)?,
        _ body: @escaping @Sendable (TimeLimit.Deadline) async throws -> Result
    ) async throws -> Result {
        let image = PixelBuffer.byteCount(size: size, format: format) ?? .max / 4
        let encoded = encoder?.encodingByteCount(of: size, format: format, frameCount: frameCount) ?? image
        return try await withMemory(of: min(image, .max / 4) + min(encoded, .max / 4), body)
    }

    /// Runs `body` when the bytes are available. Throws the error of `body`, and ``OutputError`` after the time limit.
    func withMemory<Result: Sendable>(
        of byteCount: Int, _ body: @escaping @Sendable (TimeLimit.Deadline) async throws -> Result
    ) async throws -> Result {
        try await memory.withReservation(of: byteCount) { try await timeLimit.apply(to: body) }
    }

    /// Returns the encoded image. Throws ``/AlcedoCore/ImageEncodingError``, which is `exceedsLimit` if the encoder
    /// holds more memory than the limit.
    func encode(_ image: DecodedImage, by encoder: any ImageEncoding) throws(ImageEncodingError) -> Data {
        try encoder.encode(image, limit: encodingLimit, named: "--max-decoded")
    }

    /// Returns a converter with the codecs and the limits of the job, for several files of one decode.
    func converter(for original: Original) -> ImageConverter {
        ImageConverter(
            codecs: codecs, limits: original.limits, tolerance: original.request.decoding.tolerance,
            maximumEncodingByteCount: encodingLimit, queue: conversions)
    }

    /// Writes the variants of an image, one for each size of the job.
    ///
    /// - Parameters:
    ///   - images: The variants.
    ///   - original: The original bytes of the image.
    ///   - sink: The destination.
    ///   - ignored: The losses that are expected. Default: none.
    /// - Throws: ``OutputError`` if a file cannot be written.
    func write(
        _ images: ConvertedImages, of original: Original, into sink: OutputSink, ignoring ignored: Set<Loss> = []
    ) async throws -> WrittenImage {
        let written = try await files.run {
            try images.variants.enumerated().map { index, image in
                WrittenFile(
                    path: try sink.write(image.data, frame: nil, size: index), size: image.size,
                    byteCount: image.data.count, losses: image.losses.filter { !ignored.contains($0) })
            }
        }
        return WrittenImage(
            files: written, layer: original.layer, bytesIn: original.byteCount, damage: images.damage)
    }

    /// The original bytes of an image, with their properties.
    struct Original: Sendable {
        /// A request with the bytes as its source, so that loading does not fetch them again.
        var request: ImageRequest
        /// The limits with which the properties were read.
        var limits: DecodingLimits
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
        return Original(
            request: inMemory, limits: limits, info: info, layer: layers.layer(of: request), data: data)
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
            if error.decodingCode?.meansDamage == true { await forget(request) }
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

extension Error {
    /// The kind of failure of a decoder, or nil for another error.
    var decodingCode: ImageDecodingError.Code? {
        switch self {
        case let error as ImageDecodingError: error.code
        case let error as PipelineError: if case .decoding(let code) = error.code { code } else { nil }
        default: nil
        }
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

/// The maximum duration of making the files of one image, which `--timeout` sets.
struct TimeLimit: Sendable {
    private let timeout: Duration?
    private let clock: any TimeSource
    /// The images that are made at once, so that none waits for a thread while its time runs.
    private let turns: ByteBudget

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - timeout: The maximum duration, or nil for no limit.
    ///   - clock: The clock that measures it.
    ///   - maxConcurrentImages: The number of threads that make images.
    init(_ timeout: Duration?, clock: any TimeSource, maxConcurrentImages: Int) {
        (self.timeout, self.clock) = (timeout, clock)
        turns = ByteBudget(limit: maxConcurrentImages)
    }

    /// Runs `body`, which makes the files of an image, when a thread is free for it. Cancels it when the time is over,
    /// and discards its result if it ends successfully nevertheless. A result after an interruption counts.
    ///
    /// - Parameter body: The work. It passes its deadline to the ``OutputSink``, so that no late file is written.
    /// - Throws: The error of `body`, and ``OutputError`` if the time was over before `body` ended.
    func apply<Result: Sendable>(
        to body: @escaping @Sendable (Deadline) async throws -> Result
    ) async throws -> Result {
        guard let timeout else { return try await body(Deadline(nil)) }
        return try await turns.withReservation(of: 1) { try await limit(timeout, body) }
    }

    private func limit<Result: Sendable>(
        _ timeout: Duration, _ body: @escaping @Sendable (Deadline) async throws -> Result
    ) async throws -> Result {
        let deadline = Deadline(timeout)
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body(deadline) }
            group.addTask { [clock] in
                // The sleep ends early, with an error, after an interruption and when `body` has ended.
                do { try await clock.sleep(for: timeout) } catch { return nil }
                deadline.pass()
                return nil
            }
            do {
                while let result = try await group.next() {
                    let isOver = deadline.isOver
                    if result != nil || isOver { group.cancelAll() }
                    if let result, !isOver { return result }
                }
            } catch {
                guard deadline.isOver else { throw error }
            }
            throw deadline.error
        }
    }

    /// The end of the time of one image. It passes, after which no file is written, unless the last file was begun.
    final class Deadline: Sendable {
        private enum State {
            case ahead, over, met
        }

        private let timeout: Duration?
        private let state = Locked(State.ahead)

        /// Creates a deadline after this time, for messages, or one that never passes.
        init(_ timeout: Duration?) { self.timeout = timeout }

        /// Whether the time was over before the last file was written.
        var isOver: Bool { state.withLock { $0 == .over } }

        var error: OutputError {
            OutputError(
                description: "the image took longer than \((timeout ?? .zero) / .seconds(1)) s (--timeout)")
        }

        /// Ends the time, unless the last file is being written.
        func pass() { state.withLock { if $0 == .ahead { $0 = .over } } }

        /// Begins to write a file. After the last one, the time cannot end any more. Throws ``OutputError`` if the time
        /// is over.
        func beginWriting(isLast: Bool) throws {
            let isOver = state.withLock { state in
                if state == .ahead, isLast { state = .met }
                return state == .over
            }
            if isOver { throw error }
        }
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
