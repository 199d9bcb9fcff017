import Alcedo
import AlcedoRuntime
import FoundationEssentials

/// Makes thumbnails: equal ones once, however many ask at the same time.
final class ThumbnailGenerator: Sendable {
    /// Where an answer came from.
    enum Source: String, Sendable, CaseIterable {
        case memory, store, generated
    }

    typealias Generated = (thumbnail: Thumbnail, source: Source)

    struct Limits: Sendable {
        /// Longest time from when an original was fetched, or its origin asked about it, until nothing made of it is used.
        var maximumAge = Duration.seconds(3_600)
        /// Most originals that are loaded and made smaller at once: each may be in memory as a whole.
        var maxConcurrentOriginals = 16
        /// Most of them that are asked of one host.
        var maxConcurrentOriginalsPerHost = 6
        /// Longest silence of an origin.
        var idleTimeout = Duration.seconds(20)
        var decoding = DecodingLimits(maximumPixelCount: 50_000_000, maximumByteCount: 256 << 20)
    }

    private let pipeline: ImagePipeline
    private let tracker: OriginPolicyTracker
    private let cache: ThumbnailCache
    private let limits: Limits
    private let clock: any TimeSource
    private let threads: BlockingExecutor
    private let limiter: OriginLimiter
    private let coalescer = Coalescer<ImageKey, Never, Generated>()
    /// How often each is waited for in vain so far: one that is given up may overlap with the next.
    private let waiting = Locked<[ImageKey: Int]>([:])

    /// - Parameter configuration: Its downloader is watched. Needs no caches of its own.
    init(
        _ configuration: ImagePipeline.Configuration, cache: ThumbnailCache, limits: Limits,
        clock: any TimeSource = SystemClock()
    ) {
        tracker = OriginPolicyTracker(configuration.downloader, clock: clock)
        var configuration = configuration
        configuration.downloader = tracker
        pipeline = ImagePipeline(configuration)
        self.cache = cache
        self.limits = limits
        self.clock = clock
        limiter = OriginLimiter(limit: limits.maxConcurrentOriginals, hostLimit: limits.maxConcurrentOriginalsPerHost)
        threads = BlockingExecutor(name: "thumbnail.encode", width: configuration.maxConcurrentDecodes)
    }

    /// The thumbnail, from the store or made anew. Cancelling the task leaves the work, which ends with the last.
    func thumbnail(for query: ThumbnailQuery) async throws -> Generated {
        let key = query.key
        return try await coalescer.value(for: key) { [self] _ in
            if let stored = await cache.storedThumbnail(for: key) { return (stored, .store) }
            let thumbnail = try await generateWithPermit(query)
            cache.store(thumbnail, for: key)
            return (thumbnail, .generated)
        }
    }

    /// Whether nothing has been begun for it but the wait for a place.
    func isWaiting(for key: ImageKey) -> Bool { waiting.withLock { $0[key] != nil } }

    /// The number of requests that wait for a thumbnail.
    func waiterCount(for key: ImageKey) -> Int { coalescer.waiterCount(for: key) }

    private func generateWithPermit(_ query: ThumbnailQuery) async throws -> Thumbnail {
        let key = query.key
        waiting.withLock { $0[key, default: 0] += 1 }
        let generated: Result<Thumbnail, any Error>
        do {
            generated = try await limiter.withPermit(for: query.source.host) {
                stopWaiting(for: key)
                do { return .success(try await make(query)) } catch { return .failure(error) }
            }
        } catch {
            // The wait was given up: what has a place throws nothing.
            stopWaiting(for: key)
            throw error
        }
        return try generated.get()
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
            limits.decoding, idleTimeout: limits.idleTimeout, maximumAge: limits.maximumAge)
        let (response, policy) = try await tracker.observing(request.source) { try await pipeline.load(request) }
        let freshness = policy.freshness(from: clock.now, atMost: limits.maximumAge)
        return try await threads.run {
            let encoder = query.format.encoder(for: response.image, quality: query.quality)
            let data = try encoder.encode(response.image)
            return Thumbnail(data: data, type: "image/\(encoder.format)", freshness: freshness)
        }
    }
}

/// Places for originals: as many as there may be at once, and some of them at most for one host, so that a host that
/// hangs does not hold up the others. Each goes to who asked first.
private final class OriginLimiter: Sendable {
    private struct Host {
        let limiter: ByteBudget
        /// How many have a place or wait for one.
        var count = 0
    }

    private let all: ByteBudget
    private let hostLimit: Int
    private let hosts = Locked<[String: Host]>([:])

    init(limit: Int, hostLimit: Int) {
        all = ByteBudget(limit: limit)
        self.hostLimit = hostLimit
    }

    /// Runs `body` in a place, after waiting for it without a thread.
    ///
    /// - Throws: What `body` throws; `CancellationError` when the task is cancelled before there is a place.
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
