import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

/// A generator of thumbnails. Simultaneous requests for equal thumbnails share one operation.
final class ThumbnailGenerator: Sendable {
    /// The source of a thumbnail: the memory cache, the backing store, or its generation from the original.
    enum Source: String, Sendable, CaseIterable {
        case memory, store, generated
    }

    typealias Generated = (thumbnail: Thumbnail, source: Source)

    struct Limits: Sendable {
        /// The maximum age of a thumbnail, counted from when its original was fetched or validated.
        var maximumAge = Duration.seconds(3_600)
        /// The maximum number of originals that are loaded and downscaled at once. Each may be in memory completely.
        var maxConcurrentOriginals = 16
        /// The maximum number of originals that are loaded at once from one host.
        var maxConcurrentOriginalsPerHost = 6
        /// The maximum time for which an origin may send nothing.
        var idleTimeout = Duration.seconds(20)
        var decoding = DecodingLimits(maximumPixelCount: 50_000_000, maximumByteCount: 256 << 20)
        /// The most damage of an original that still gives a thumbnail.
        var tolerance = DamageTolerance.wrongPixels
    }

    private let pipeline: ImagePipeline
    private let tracker: OriginPolicyTracker
    private let cache: ThumbnailCache
    private let limits: Limits
    private let clock: any TimeSource
    private let log: @Sendable (String) -> Void
    private let threads: BlockingExecutor
    private let limiter: OriginLimiter
    private let coalescer = Coalescer<ImageKey, Never, Generated>()
    /// The number of operations that wait for a permit, by key. An operation that is given up may overlap with the next
    /// one for the same key.
    private let waiting = Locked<[ImageKey: Int]>([:])

    /// Creates a generator.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the pipeline. It needs no caches. The generator records the cache
    ///     policies of its downloads.
    ///   - cache: The cache of finished thumbnails.
    ///   - limits: The limits of originals.
    ///   - clock: The clock. Default: the system's clock.
    ///   - log: Receives one line for each original whose decoder fails, and for each thumbnail of a damaged original.
    init(
        _ configuration: ImagePipeline.Configuration, cache: ThumbnailCache, limits: Limits,
        clock: any TimeSource = SystemClock(), log: @escaping @Sendable (String) -> Void
    ) {
        tracker = OriginPolicyTracker(configuration.downloader, clock: clock)
        var configuration = configuration
        configuration.downloader = tracker
        pipeline = ImagePipeline(configuration)
        self.cache = cache
        self.limits = limits
        self.clock = clock
        self.log = log
        limiter = OriginLimiter(limit: limits.maxConcurrentOriginals, hostLimit: limits.maxConcurrentOriginalsPerHost)
        threads = BlockingExecutor(name: "thumbnail.encode", maxConcurrent: configuration.maxConcurrentDecodes)
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
            let thumbnail = try await generateWithPermit(query)
            cache.store(thumbnail, for: key)
            return (thumbnail, .generated)
        }
    }

    /// Whether the thumbnail for a key still waits for a permit to load its original.
    func isWaiting(for key: ImageKey) -> Bool { waiting.withLock { $0[key] != nil } }

    /// Returns the number of requests that wait for a thumbnail.
    func waiterCount(for key: ImageKey) -> Int { coalescer.waiterCount(for: key) }

    private func generateWithPermit(_ query: ThumbnailQuery) async throws -> Thumbnail {
        let key = query.key
        waiting.withLock { $0[key, default: 0] += 1 }
        let generated: Result<Thumbnail, any Error>
        do {
            generated = try await limiter.withPermit(for: query.source.host) {
                stopWaiting(for: key)
                do {
                    return .success(try await make(query))
                } catch {
                    logDecoderFailure(error, of: query.source)
                    return .failure(error)
                }
            }
        } catch {
            // The operation was given up while it waited. An error of an admitted operation is a result and is not
            // thrown here.
            stopWaiting(for: key)
            throw error
        }
        return try generated.get()
    }

    /// Logs a decoder that crashed, made a forbidden call, took too long or had no memory. Damaged originals are not
    /// logged.
    private func logDecoderFailure(_ error: any Error, of source: SourceURL) {
        guard let error = error as? PipelineError else { return }
        switch error.code {
        case .decoding(.decoderFailed), .decoding(.timedOut), .decoding(.outOfMemory):
            log("cannot decode \(source.url.absoluteString): \(error.message)")
        default: break
        }
    }

    private func stopWaiting(for key: ImageKey) {
        waiting.withLock { waiting in
            let count = waiting[key, default: 0] - 1
            waiting[key] = count > 0 ? count : nil
        }
    }

    func shutDown() async {
        await coalescer.shutDown(throwing: HTTPError.shuttingDown)
        await pipeline.shutDown()
        await cache.flush()
    }

    private func make(_ query: ThumbnailQuery) async throws -> Thumbnail {
        let request = query.imageRequest(
            limits.decoding, tolerance: limits.tolerance, idleTimeout: limits.idleTimeout,
            maximumAge: limits.maximumAge)
        let (response, policy) = try await tracker.observing(request.source) { try await pipeline.load(request) }
        let damage = response.image.damage
        if let damage { log("damaged original \(query.source.url.absoluteString): \(damage.text)") }
        // A thumbnail with missing pixels is not stored, here or by clients, because the original may become complete.
        let freshness =
            damage?.kind == .missingPixels ? nil : policy.freshness(from: clock.now, atMost: limits.maximumAge)
        return try await threads.run {
            let encoder = query.format.encoder(for: response.image, quality: query.quality)
            let data = try encoder.encode(response.image)
            return Thumbnail(data: data, type: "image/\(encoder.format)", freshness: freshness)
        }
    }
}

/// A limit on originals that are loaded at once, in total and for each host, so that a host that hangs does not delay
/// the others. A request waits for a permit of its host, then for one of the total. Both are granted in the order of
/// arrival.
private final class OriginLimiter: Sendable {
    private struct Host {
        let limiter: ByteBudget
        /// The number of operations that have a permit or wait for one.
        var count = 0
    }

    private let all: ByteBudget
    private let hostLimit: Int
    private let hosts = Locked<[String: Host]>([:])

    init(limit: Int, hostLimit: Int) {
        all = ByteBudget(limit: limit)
        self.hostLimit = hostLimit
    }

    /// Runs `body` with a permit. Waiting for the permit occupies no thread.
    ///
    /// - Throws: The error of `body`; `CancellationError` if the task is canceled before it has a permit.
    func withPermit<Value: Sendable>(
        for host: String, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let limiter = acquire(host)
        defer { release(host) }
        return try await limiter.withReservation(of: 1) { [all] in
            try await all.withReservation(of: 1, body)
        }
    }

    private func acquire(_ host: String) -> ByteBudget {
        hosts.withLock { hosts in
            var found = hosts[host] ?? Host(limiter: ByteBudget(limit: hostLimit))
            found.count += 1
            hosts[host] = found
            return found.limiter
        }
    }

    private func release(_ host: String) {
        hosts.withLock { hosts in
            guard var found = hosts[host] else { return }
            found.count -= 1
            hosts[host] = found.count > 0 ? found : nil
        }
    }
}
