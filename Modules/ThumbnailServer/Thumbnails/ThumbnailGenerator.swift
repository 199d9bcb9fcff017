import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

/// The path of a thumbnail: from memory, from the store, or made from its original. Simultaneous requests for equal
/// thumbnails share one operation.
final class ThumbnailGenerator: Sendable {
    /// The source of a thumbnail: the memory cache, the backing store, or its generation from the original.
    enum Source: String, Sendable, CaseIterable {
        case memory, store, generated
    }

    typealias Generated = (thumbnail: Thumbnail, source: Source)

    struct Limits: Sendable {
        /// The maximum age of a thumbnail, counted from when its original was fetched or validated.
        var maximumAge = Duration.seconds(3_600)
        /// The maximum number of originals that are fetched at once. Decoding has limits of its own, so that originals
        /// that wait for the network do not delay those that have arrived.
        var maxConcurrentOriginals = 128
        /// The maximum number of originals that are fetched at once from one host, and from one address.
        var maxConcurrentOriginalsPerHost = 6
        /// The maximum time for which an origin may send nothing.
        var idleTimeout = Duration.seconds(20)
        var decoding = DecodingLimits(maximumPixelCount: 50_000_000, maximumByteCount: 256 << 20)
        /// The most damage of an original that still gives a thumbnail.
        var tolerance = DamageTolerance.wrongPixels
    }

    /// The maximum age of a thumbnail with wrong pixels. The pipeline requests its original as often.
    private static let maximumDamagedAge = Duration.seconds(30)

    private let pipeline: ImagePipeline
    private let tracker: OriginPolicyTracker
    private let decoderWaits: DecoderWaits
    private let cache: ThumbnailCache
    private let limits: Limits
    private let clock: any TimeSource
    private let log: @Sendable (String) -> Void
    private let coalescer = Coalescer<ImageKey, Never, Generated>()
    private let hasReportedDescriptors = Locked(false)

    /// Creates a generator.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the pipeline. It needs no caches. The generator records the cache
    ///     policies of its downloads.
    ///   - cache: The cache of finished thumbnails.
    ///   - limits: The limits of originals.
    ///   - waits: The originals whose requests wait, which the transport of the pipeline records.
    ///   - decoderWaits: The requests whose decodes and encodes wait. The pipeline records the decodes.
    ///   - clock: The clock. Default: the system's clock.
    ///   - log: Receives one line for each original whose decoder fails or does not start, and for each thumbnail of a
    ///     damaged original.
    init(
        _ configuration: ImagePipeline.Configuration, cache: ThumbnailCache, limits: Limits,
        waits: OriginWaits, decoderWaits: DecoderWaits, clock: any TimeSource = SystemClock(),
        log: @escaping @Sendable (String) -> Void
    ) {
        tracker = OriginPolicyTracker(configuration.downloader, waits: waits, clock: clock)
        var configuration = configuration
        configuration.downloader = tracker
        pipeline = ImagePipeline(configuration)
        self.decoderWaits = decoderWaits
        self.cache = cache
        self.limits = limits
        self.clock = clock
        self.log = log
    }

    /// Returns the thumbnail from the backing store, or generates and caches it. The shared operation is canceled only
    /// after all of its waiters are canceled.
    ///
    /// - Throws: The error of loading or encoding; `CancellationError` if the task is canceled;
    ///   ``HTTPError/shuttingDown`` after ``shutDown()``.
    func thumbnail(for query: ThumbnailQuery) async throws -> Generated {
        let key = query.key
        return try await coalescer.value(for: key) { [self] _ in
            if let stored = await cache.storedThumbnail(for: key) { return (stored, .store) }
            do {
                let thumbnail = try await make(query)
                cache.store(thumbnail, for: key)
                return (thumbnail, .generated)
            } catch {
                logFailure(error, of: query.source)
                throw error
            }
        }
    }

    /// Whether a thumbnail waits for others: for their originals to be fetched, or for a thread or memory that they
    /// use.
    func isWaiting(for query: ThumbnailQuery) -> Bool {
        let request = request(for: query)
        return tracker.isWaiting(for: request.source) || decoderWaits.contains(request)
    }

    /// Returns the number of requests that wait for a thumbnail.
    func waiterCount(for key: ImageKey) -> Int { coalescer.waiterCount(for: key) }

    /// Logs a decoder that crashed, made a forbidden call, took too long, had no memory or did not start, and once a
    /// lack of file descriptors. Damaged originals are not logged, nor is work that was canceled.
    private func logFailure(_ error: any Error, of source: SourceURL) {
        // Encoders throw errors of their own, which are those of the request.
        guard let error = error as? PipelineError, !Task.isCancelled else { return }
        switch error.code {
        // The pipeline accepts any downloader, so the type of the cause is that of this server's downloader.
        case .download where (error.cause as? DownloadError)?.code == .transport(.outOfDescriptors):
            let isFirst = hasReportedDescriptors.withLock { hasReported in
                defer { hasReported = true }
                return !hasReported
            }
            if isFirst { log("cannot fetch originals: too many open files: raise the limit of open files (ulimit -n)") }
        case .decoding(.decoderFailed), .decoding(.timedOut), .decoding(.outOfMemory), .decoding(.decoderUnavailable):
            log("cannot decode \(source.url.absoluteString): \(ProblemText.text(error.message, in: .server))")
        default: break
        }
    }

    func shutDown() async {
        await coalescer.shutDown(throwing: HTTPError.shuttingDown)
        await pipeline.shutDown()
        await cache.flush()
    }

    private func request(for query: ThumbnailQuery) -> ImageRequest {
        query.imageRequest(
            limits.decoding, tolerance: limits.tolerance, idleTimeout: limits.idleTimeout,
            maximumAge: limits.maximumAge)
    }

    private func make(_ query: ThumbnailQuery) async throws -> Thumbnail {
        let request = request(for: query)
        let (response, policy) = try await tracker.observing(request.source) { try await pipeline.load(request) }
        let damage = response.image.damage
        if let damage {
            let text = ProblemText.text(damage.text, in: .server)
            log("damaged original \(query.source.url.absoluteString): \(text)")
        }
        // The original may be mended. A thumbnail with missing pixels is not stored, here or by clients.
        let maximumAge =
            damage?.kind == .wrongPixels ? min(limits.maximumAge, Self.maximumDamagedAge) : limits.maximumAge
        let freshness = damage?.kind == .missingPixels ? nil : policy.freshness(from: clock.now, atMost: maximumAge)
        let encoder = query.format.encoder(for: response.image, quality: query.quality)
        let wait = decoderWaits.begin(request)
        defer { wait.end() }
        let data = try await pipeline.encode(response.image, to: encoder) { wait.end() }
        return Thumbnail(data: data, type: "image/\(encoder.format)", freshness: freshness)
    }
}
