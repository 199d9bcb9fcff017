import Alcedo
import AlcedoRedisCache
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

/// Slow and failing stores.
@Suite(.timeLimit(.minutes(5)))
struct ThumbnailCacheTests {
    /// Stores nothing until it is opened.
    private final class HeldStore: DataCaching {
        private let held = Watched<[CheckedContinuation<Void, Never>]?>([])

        func open() {
            let held = held.update { held in
                defer { held = nil }
                return held ?? []
            }
            for continuation in held { continuation.resume() }
        }

        func store(_ entry: CachedData, for key: ImageKey) async throws {
            await withCheckedContinuation { continuation in
                let isHeld = held.update { held in
                    held?.append(continuation)
                    return held != nil
                }
                if !isHeld { continuation.resume() }
            }
        }

        func entry(for key: ImageKey) async -> CachedData? { nil }
        func contains(_ key: ImageKey) async -> Bool { false }
        func remove(_ key: ImageKey) async -> Bool { false }
        func removeAll(of resource: ResourceKey) async -> Int { 0 }
        func removeAll() async {}
    }

    private let clock = ManualClock()

    private func thumbnail() -> Thumbnail {
        let date = clock.now.addingTimeInterval(60)
        return Thumbnail(
            data: Data(repeating: 1, count: 100), type: "image/png",
            freshness: ThumbnailFreshness(start: clock.now, shared: date, client: date))
    }

    private func key(_ number: Int) throws -> ImageKey {
        ImageKey(ResourceKey(try #require(URL(string: "https://a.test/\(number)"))))
    }

    @Test func `no request waits for a stalled store, and the number of waiting stores is limited`() async throws {
        let store = HeldStore()
        let thumbnails = ThumbnailCache(
            memoryLimit: 1 << 20, store: store, maximumAge: .seconds(3_600),
            writeQueue: ThumbnailWriteQueue(countLimit: 2, byteLimit: 1_000), clock: clock)
        for number in 0..<5 {
            thumbnails.store(thumbnail(), for: try key(number))
            #expect(thumbnails.memoryThumbnail(for: try key(number)) == thumbnail())
        }
        #expect(thumbnails.writeStatistics.pending == 2)
        #expect(thumbnails.writeStatistics.dropped == 3)

        store.open()
        await thumbnails.flush()
        #expect(thumbnails.writeStatistics.pending == 0)
        #expect(thumbnails.writeStatistics.failures == 0)
    }

    @Test func `the bytes waiting to be stored are limited, except for a single entry`() async throws {
        let store = HeldStore()
        let thumbnails = ThumbnailCache(
            memoryLimit: 0, store: store, maximumAge: .seconds(3_600),
            writeQueue: ThumbnailWriteQueue(countLimit: 100, byteLimit: 50),
            clock: clock)
        thumbnails.store(thumbnail(), for: try key(0))
        thumbnails.store(thumbnail(), for: try key(1))
        #expect(thumbnails.writeStatistics.pending == 1)
        #expect(thumbnails.writeStatistics.dropped == 1)
        store.open()
        await thumbnails.flush()
    }

    @Test func `a Redis that refuses stores is counted and reported once`() async throws {
        let cache = RedisDataCache(RedisOptions(address: .socket("/nowhere/s"), maximumFailureCount: 1), clock: clock)
        let lines = Watched<[String]>([])
        let monitor = SharedStoreMonitor(cache) { line in lines.update { $0.append(line) } }
        let thumbnails = ThumbnailCache(memoryLimit: 0, store: cache, maximumAge: .seconds(3_600), clock: clock) {
            monitor.check()
        }
        monitor.check()
        #expect(lines.value.isEmpty)
        #expect(!monitor.current.isFailing)
        for number in 0..<3 {
            thumbnails.store(thumbnail(), for: try key(number))
            await thumbnails.flush()
        }
        #expect(lines.value.count == 1)
        #expect(monitor.current.statistics.failures == 3)
        #expect(monitor.current.isFailing)

        let text = ServerMetrics().text(
            inFlight: 0, thumbnails.writeStatistics, sharedStore: monitor.current, PipelineMetrics().snapshot)
        #expect(text.contains("\nthumbnail_redis_stores_total{result=\"failed\"} 3\n"))
        #expect(text.contains("\nthumbnail_redis_reads_total{result=\"hit\"} 0\n"))
        #expect(text.contains("\nthumbnail_redis_failing 1\n"))
        let alone = ServerMetrics().text(
            inFlight: 0, thumbnails.writeStatistics, sharedStore: nil, PipelineMetrics().snapshot)
        #expect(!alone.contains("redis"))
    }

    @Test func `a stored thumbnail keeps its directives`() throws {
        let freshness = ThumbnailFreshness(
            start: clock.now, shared: clock.now.addingTimeInterval(60), client: clock.now)
        let image = Thumbnail(data: Data([1, 2]), type: "image/png", freshness: freshness)
        #expect(Thumbnail(try #require(image.entry), maximumAge: .seconds(90)) == image)
        for metadata in [
            "", "image/png\n\"a\"\n1", "image/png\n\"a\"\nx\n1", "image/png\n\"a\"\n1\nx", "text/html\n\"a\"\n1\n1",
            "image/png\na\n1\n1",
        ] {
            let entry = CachedData(Data([1]), metadata: Data(metadata.utf8), expiry: clock.now)
            #expect(Thumbnail(entry, maximumAge: .seconds(90)) == nil)
        }
    }

    @Test func `a clock a year ahead leaves no thumbnail that is fresh after it is corrected`() async throws {
        let store = MemoryCache<ImageKey, CachedData>(limits: MemoryCacheLimits(costLimit: 1 << 20), clock: clock)
        let cache = { [clock] in
            ThumbnailCache(memoryLimit: 1 << 20, store: store, maximumAge: .seconds(3_600), clock: clock)
        }
        let (first, start) = (cache(), clock.now)
        clock.setDate(start + 365 * 24 * 60 * 60)
        let ahead = thumbnail()
        first.store(ahead, for: try key(0))
        await first.flush()
        #expect(first.memoryThumbnail(for: try key(0)) == ahead)
        #expect(await cache().storedThumbnail(for: try key(0)) == ahead)

        clock.setDate(start)
        #expect(first.memoryThumbnail(for: try key(0)) == nil)
        #expect(await cache().storedThumbnail(for: try key(0)) == nil)
        #expect(ahead.freshness?.cacheControl(now: start, until: nil) == "no-cache")
        // The new thumbnail replaces the one with the wrong date.
        first.store(thumbnail(), for: try key(0))
        await first.flush()
        let current = try #require(await cache().storedThumbnail(for: try key(0)))
        #expect(current.freshness?.cacheControl(now: start, until: nil) == "max-age=60")

        clock.setDate(start + 365 * 24 * 60 * 60)
        #expect(first.memoryThumbnail(for: try key(0)) == nil)
        #expect(await cache().storedThumbnail(for: try key(0)) == nil)
    }

    @Test func `an entry stored for longer is used no longer than this server allows`() async throws {
        let store = MemoryCache<ImageKey, CachedData>(limits: MemoryCacheLimits(costLimit: 1 << 20), clock: clock)
        let thumbnails = { ThumbnailCache(memoryLimit: 1 << 20, store: store, maximumAge: $0, clock: clock) }
        let key = try key(0)
        let patient = thumbnails(.seconds(3_600))
        let date = clock.now.addingTimeInterval(3_600)
        patient.store(
            Thumbnail(
                data: Data([1]), type: "image/png",
                freshness: ThumbnailFreshness(start: clock.now, shared: date, client: date)), for: key)
        await patient.flush()
        clock.advance(by: .seconds(4))

        let hasty = thumbnails(.seconds(10))
        let freshness = try #require(await hasty.storedThumbnail(for: key)?.freshness)
        #expect(freshness.cacheControl(now: clock.now, until: nil) == "max-age=6")
        clock.advance(by: .seconds(6))
        #expect(hasty.memoryThumbnail(for: key) == nil)
        #expect(await hasty.storedThumbnail(for: key) == nil)
        #expect(await thumbnails(.seconds(3_600)).storedThumbnail(for: key) != nil)
    }
}
