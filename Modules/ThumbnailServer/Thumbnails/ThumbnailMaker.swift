import Alcedo
import AlcedoRuntime
import FoundationEssentials

/// Makes thumbnails: equal ones once, however many ask at the same time.
final class ThumbnailMaker: Sendable {
    /// Where an answer came from.
    enum Origin: String, Sendable, CaseIterable {
        case memory, store, made
    }

    typealias Made = (thumbnail: Thumbnail, origin: Origin)

    struct Limits: Sendable {
        /// Longest time from when an original was fetched, or its origin asked about it, until nothing made of it is used.
        var life = Duration.seconds(3_600)
        /// Most originals that are loaded and made smaller at once: each may be in memory as a whole.
        var originals = 16
        /// Most of them that are asked of one host.
        var originalsOfHost = 6
        /// Longest silence of an origin.
        var silence = Duration.seconds(20)
        var decoding = DecodingLimits(maximumPixelCount: 50_000_000, maximumByteCount: 256 << 20)
    }

    private let pipeline: ImagePipeline
    private let origins: OriginWatch
    private let answers: AnswerStore
    private let limits: Limits
    private let clock: any TimeSource
    private let threads: BlockingExecutor
    private let places: OriginPlaces
    private let making = Coalescer<ImageKey, Never, Made>()
    /// How often each is waited for in vain so far: one that is given up may overlap with the next.
    private let waiting = Locked<[ImageKey: Int]>([:])

    /// - Parameter configuration: Its downloader is watched. Needs no caches of its own.
    init(
        _ configuration: ImagePipeline.Configuration, answers: AnswerStore, limits: Limits,
        clock: any TimeSource = SystemClock()
    ) {
        origins = OriginWatch(configuration.downloader, clock: clock)
        var configuration = configuration
        configuration.downloader = origins
        pipeline = ImagePipeline(configuration)
        self.answers = answers
        self.limits = limits
        self.clock = clock
        places = OriginPlaces(limit: limits.originals, hostLimit: limits.originalsOfHost)
        threads = BlockingExecutor(name: "thumbnail.encode", width: configuration.maxConcurrentDecodes)
    }

    /// The thumbnail, from the store or made anew. Cancelling the task leaves the work, which ends with the last.
    func thumbnail(for query: ThumbnailQuery) async throws -> Made {
        let key = query.key
        return try await making.value(for: key) { [self] _ in
            if let stored = await answers.storedAnswer(for: key) { return (stored, .store) }
            let thumbnail = try await inPlace(query)
            answers.keep(thumbnail, for: key)
            return (thumbnail, .made)
        }
    }

    /// Whether nothing has been begun for it but the wait for a place.
    func isWaiting(for key: ImageKey) -> Bool { waiting.withLock { $0[key] != nil } }

    private func inPlace(_ query: ThumbnailQuery) async throws -> Thumbnail {
        let key = query.key
        waiting.withLock { $0[key, default: 0] += 1 }
        let made: Result<Thumbnail, any Error>
        do {
            made = try await places.withPlace(for: query.source.host) {
                stopWaiting(for: key)
                do { return .success(try await make(query)) } catch { return .failure(error) }
            }
        } catch {
            // The wait was given up: what has a place throws nothing.
            stopWaiting(for: key)
            throw error
        }
        return try made.get()
    }

    private func stopWaiting(for key: ImageKey) {
        waiting.withLock { waiting in
            let count = waiting[key, default: 0] - 1
            waiting[key] = count > 0 ? count : nil
        }
    }

    func shutDown() async {
        await making.shutDown(throwing: Refusal.stopping)
        await pipeline.shutDown()
        await answers.flush()
    }

    private func make(_ query: ThumbnailQuery) async throws -> Thumbnail {
        let request = query.imageRequest(limits.decoding, silence: limits.silence, life: limits.life)
        let (response, terms) = try await origins.observing(request.source) { try await pipeline.load(request) }
        let freshness = terms.freshness(from: clock.now, atMost: limits.life)
        return try await threads.run {
            let encoder = query.format.encoder(for: response.image, quality: query.quality)
            let data = try encoder.encode(response.image)
            return Thumbnail(data: data, type: "image/\(encoder.format)", freshness: freshness)
        }
    }
}

/// Places for originals: as many as there may be at once, and some of them at most for one host, so that a host that
/// hangs does not hold up the others. Each goes to who asked first.
private final class OriginPlaces: Sendable {
    private struct Host {
        let places: ByteBudget
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
    func withPlace<Value: Sendable>(
        for host: String, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let places = enter(host)
        defer { leave(host) }
        return try await places.withReservation(of: 1) { [all] in
            try await all.withReservation(of: 1, body)
        }
    }

    private func enter(_ host: String) -> ByteBudget {
        hosts.withLock { hosts in
            var found = hosts[host] ?? Host(places: ByteBudget(limit: hostLimit))
            found.count += 1
            hosts[host] = found
            return found.places
        }
    }

    private func leave(_ host: String) {
        hosts.withLock { hosts in
            guard var found = hosts[host] else { return }
            found.count -= 1
            hosts[host] = found.count > 0 ? found : nil
        }
    }
}
