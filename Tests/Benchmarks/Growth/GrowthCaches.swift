import Alcedo
import AlcedoCore
import AlcedoDiskCache
import AlcedoHTTP
import AlcedoMemoryCache
import AlcedoTesting
import AlcedoURLResponseCache
import Foundation

extension GrowthGroup {
    /// The groups that measure caches.
    static let cacheGroups = [
        GrowthGroup("memory cache") { count, _ in try await memoryCache(count) },
        GrowthGroup("disk cache") { count, directory in try await diskCache(count, in: directory) },
        GrowthGroup("bytes of a disk entry", sizes: powers(3...8)) { count, directory in
            try await diskEntry(count, in: directory)
        },
        GrowthGroup("variants of one URL") { count, _ in try await variants(count) },
    ]

    /// The number of look-ups of one measurement.
    private static let lookupCount = 1_000

    private static func key(_ number: Int, _ name: String = "large") -> ImageKey {
        ImageKey(ResourceKey("https://images.example.org/album/\(number)/\(name).jpg"))
    }

    // MARK: Memory

    private final class Payload: Sendable {}

    /// Measures gets and stores of a full cache. Each store evicts an entry.
    private static func memoryCache(_ count: Int) async throws -> [GrowthSeries] {
        let keys = (0..<count).map { key($0) }
        let payload = Payload()
        let (cache, bytes) = ResidentMemory.growth {
            let cache: MemoryCache<ImageKey, Payload> = PolicyName.adaptive.cache(costLimit: count)
            for key in keys { cache.store(payload, for: key, cost: 1) }
            return cache
        }
        let get = try await GrowthMeter.best {
            // The keys are copied before the measurement, which would otherwise include the processor's cache misses of
            // reading them.
            let block = (0..<lookupCount).map { _ in keys[Int.random(in: 0..<count)] }
            var found = 0
            let time = ContinuousClock().measure {
                for key in block where cache.value(for: key) != nil { found += 1 }
            }
            guard found > 0 else { throw BenchError(description: "the memory cache has lost its entries") }
            return time / lookupCount
        }
        var stored = 0
        let store = await GrowthMeter.best {
            let block = (stored..<stored + lookupCount).map { key($0, "small") }
            stored += lookupCount
            return ContinuousClock().measure {
                for key in block { cache.store(payload, for: key, cost: 1) }
            } / lookupCount
        }
        return [
            .lookup("memory cache of n entries, get", count, get, bytes: bytes),
            .lookup("memory cache of n entries, store", count, store, bytes: bytes),
        ]
    }

    // MARK: Disk

    /// Measures stores of all entries, gets, and the first get after opening. The entries are small, so that the
    /// directory and the index count.
    private static func diskCache(_ count: Int, in directory: URL) async throws -> [GrowthSeries] {
        let limits = DataCacheLimits(sizeLimit: .max)
        let data = Data(repeating: 7, count: 100)
        func filled(_ name: String) async throws -> (cache: FileDiskCache, time: Duration) {
            let cache = FileDiskCache(directory: directory.appending(path: name), limits: limits)
            let time = try await ContinuousClock().measure {
                for number in 0..<count { try await cache.store(data, for: key(number)) }
                await cache.flush()
            }
            return (cache, time)
        }
        let ((cache, first), bytes) = try await ResidentMemory.suspendingGrowth { try await filled("first") }
        let storing = try await GrowthMeter.best(after: first) { try await filled(UUID().uuidString).time }
        func get(_ keys: [ImageKey], from cache: FileDiskCache) async throws -> Duration {
            try await ContinuousClock().measure {
                for key in keys {
                    guard await cache.data(for: key) == data else {
                        throw BenchError(description: "the disk cache has lost an entry")
                    }
                }
            }
        }
        let getting = try await GrowthMeter.best {
            let keys = (0..<lookupCount).map { _ in key(Int.random(in: 0..<count)) }
            return try await get(keys, from: cache) / lookupCount
        }
        let (opening, openingBytes) = try await ResidentMemory.suspendingGrowth {
            try await GrowthMeter.best {
                try await get([key(count / 2)], from: FileDiskCache(directory: cache.directory, limits: limits))
            }
        }
        return [
            .total("disk cache, n stores", count, storing, bytes: bytes),
            .lookup("disk cache of n entries, get", count, getting, bytes: bytes),
            .total("disk cache of n entries, opening", count, opening, bytes: openingBytes),
        ]
    }

    private static func diskEntry(_ byteCount: Int, in directory: URL) async throws -> [GrowthSeries] {
        let cache = FileDiskCache(directory: directory, limits: DataCacheLimits(sizeLimit: .max))
        let data = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let (storing, bytes) = try await ResidentMemory.suspendingGrowth {
            try await GrowthMeter.bestTime {
                try await cache.store(data, for: key(0))
                await cache.flush()
            }
        }
        let (getting, readBytes) = try await ResidentMemory.suspendingGrowth {
            try await GrowthMeter.bestTime {
                guard await cache.data(for: key(0))?.count == byteCount else {
                    throw BenchError(description: "the disk cache has lost an entry")
                }
            }
        }
        return [
            .total("disk entry of n bytes, store", byteCount, storing, bytes: bytes),
            .total("disk entry of n bytes, get", byteCount, getting, bytes: readBytes),
        ]
    }

    // MARK: Responses

    /// Measures the response cache with many variants of one URL: stores of all, one after another and in flight
    /// together, and a fresh hit.
    private static func variants(_ count: Int) async throws -> [GrowthSeries] {
        let transport = CannedTransport(body: Data(count: 64), vary: "Accept-Language")
        let requests = (0..<count).map { variant($0) }
        func filled() async throws -> (cache: CachingTransport, time: Duration) {
            let cache = CachingTransport(wrapping: transport, store: MemoryResponseStore(byteLimit: .max))
            let time = try await ContinuousClock().measure {
                for request in requests { _ = try await cache.send(request).body.collect(limit: .max) }
            }
            return (cache, time)
        }
        let ((cache, first), bytes) = try await ResidentMemory.suspendingGrowth { try await filled() }
        let storing = try await GrowthMeter.best(after: first) { try await filled().time }
        let hit = try await GrowthMeter.best {
            let block = (0..<lookupCount).map { _ in requests[Int.random(in: 0..<count)] }
            return try await ContinuousClock().measure {
                for request in block {
                    guard try await cache.send(request).caching?.source == .fresh else {
                        throw BenchError(description: "a variant is not fresh")
                    }
                }
            } / lookupCount
        }
        let (together, heldBytes) = try await GrowthMeter.bestWithMemory {
            let hold = GrowthHold()
            let cache = CachingTransport(
                wrapping: HeldTransport(transport: transport, hold: hold),
                store: MemoryResponseStore(byteLimit: .max))
            return try await hold.time(count) { number in
                _ = try await cache.send(requests[number]).body.collect(limit: .max)
            }
        }
        return [
            .total("n variants of one URL, stored in turn", count, storing, bytes: bytes),
            .lookup("n variants of one URL, fresh hit", count, hit, bytes: bytes),
            .total("n variants of one URL, in flight", count, together, bytes: heldBytes),
        ]
    }

    private static func variant(_ number: Int) -> HTTPRequest {
        HTTPRequest(
            url: URL(string: "https://images.example.org/album/large.jpg") ?? URL(filePath: "/"),
            fields: ["Accept-Language": "de-\(number), en;q=0.5"])
    }
}
