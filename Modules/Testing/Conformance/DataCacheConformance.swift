public import AlcedoCore
import FoundationEssentials

/// The contract of ``/AlcedoCore/DataCaching``, and of ``/AlcedoCore/MeasurableDataCache`` for caches that conform to
/// it.
///
/// A cache that keeps its entries needs an empty directory for each check, and opens the storage that
/// ``ConformanceOptions/storage`` names:
///
/// ```swift
/// import AlcedoTesting
/// import Testing
///
/// @Test(arguments: DataCacheConformance.checks)
/// func conforms(to check: DataCacheConformance.Check) async throws {
///     try await check {
///         MyDataCache(directory: directory.appending(path: "\($0.storage)"), sizeLimit: $0.byteLimit)
///     }
/// }
/// ```
public enum DataCacheConformance: ConformanceKit {
    private static let options = ConformanceOptions()

    private static func key(_ name: String, variant: String = "") -> ImageKey {
        ImageKey(ResourceKey(name), variant: variant)
    }

    /// Returns the number of bytes and entries in a cache; nil if the cache does not report them.
    private static func measure(_ cache: any DataCaching) async -> (size: Int, count: Int)? {
        guard let cache = cache as? any MeasurableDataCache else { return nil }
        return await (cache.totalSize, cache.count)
    }

    private static func bytes(_ count: Int, seed: UInt8 = 0) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) &+ seed })
    }

    /// All checks of the contract, for a parameterized test. Caches that keep their entries also run
    /// ``persistenceChecks``.
    public static let checks: [ConformanceCheck<any DataCaching>] = [
        Check("a stored entry is found, with its metadata") { make in
            let cache = try make(options)
            let entry = CachedData(bytes(5000), metadata: Data("notes".utf8))
            try await cache.store(entry, for: key("a"))
            let found = await cache.entry(for: key("a"))
            try ConformanceFailure.require(found == entry, "found \(String(describing: found))")
        },
        Check("a missing entry is not found") { make in
            let cache = try make(options)
            let found = await cache.entry(for: key("a"))
            try ConformanceFailure.require(found == nil, "found something")
        },
        Check("data begins at index zero") { make in
            let cache = try make(options)
            try await cache.store(CachedData(bytes(10), metadata: bytes(10)), for: key("a"))
            let found = await cache.entry(for: key("a"))
            try ConformanceFailure.require(found?.data.startIndex == 0, "the data is a slice")
            try ConformanceFailure.require(found?.metadata.startIndex == 0, "the metadata is a slice")
        },
        Check("an entry may be empty") { make in
            let cache = try make(options)
            try await cache.store(CachedData(Data()), for: key("a"))
            let found = await cache.entry(for: key("a"))
            try ConformanceFailure.require(found == CachedData(Data()), "found \(String(describing: found))")
        },
        Check("storing again replaces the entry") { make in
            let cache = try make(options)
            try await cache.store(bytes(4000, seed: 1), for: key("a"))
            try await cache.store(bytes(10, seed: 2), for: key("a"))
            let found = await cache.data(for: key("a"))
            try ConformanceFailure.require(found == bytes(10, seed: 2), "the old entry stayed")
        },
        Check("a variant and the original are separate entries") { make in
            let cache = try make(options)
            try await cache.store(bytes(10), for: key("a", variant: "small"))
            let found = await cache.data(for: key("a"))
            try ConformanceFailure.require(found == nil, "the variant was found for the original")
        },
        Check("keys may have any content") { make in
            let cache = try make(options)
            let names = ["", "/", "../../etc/passwd", "a\0b", "👍🏽", String(repeating: "x", count: 10_000), "a b%2F"]
            for (seed, name) in names.enumerated() {
                try await cache.store(bytes(9, seed: UInt8(seed)), for: key(name))
            }
            for (seed, name) in names.enumerated() {
                let found = await cache.data(for: key(name))
                try ConformanceFailure.require(found == bytes(9, seed: UInt8(seed)), "lost the key number \(seed)")
            }
        },
        Check("removing removes that entry only, and says whether there was one") { make in
            let cache = try make(options)
            try await cache.store(bytes(10), for: key("a"))
            try await cache.store(bytes(10), for: key("b"))
            let first = await cache.remove(key("a"))
            let second = await cache.remove(key("a"))
            try ConformanceFailure.require(first && !second, "said \(first), then \(second)")
            let a = await cache.data(for: key("a"))
            let b = await cache.data(for: key("b"))
            try ConformanceFailure.require(a == nil, "still there")
            try ConformanceFailure.require(b != nil, "another went too")
        },
        Check("removing everything leaves nothing") { make in
            let cache = try make(options)
            for number in 0..<5 { try await cache.store(bytes(10), for: key("\(number)")) }
            await cache.removeAll()
            let found = await cache.data(for: key("0"))
            let (size, count) = await measure(cache) ?? (0, 0)
            try ConformanceFailure.require(found == nil && size == 0 && count == 0, "\(count) entries stayed")
        },
        Check("removing a resource removes its original and variants, no other's, and says how many") { make in
            let cache = try make(options)
            for variant in ["", "small", "round"] { try await cache.store(bytes(10), for: key("a", variant: variant)) }
            for name in ["b", "a ", "a [small]", ""] { try await cache.store(bytes(10), for: key(name)) }
            let first = await cache.removeAll(of: ResourceKey("a"))
            let second = await cache.removeAll(of: ResourceKey("a"))
            try ConformanceFailure.require(first == 3 && second == 0, "said \(first), then \(second)")
            for variant in ["", "small", "round"] {
                let found = await cache.contains(key("a", variant: variant))
                try ConformanceFailure.require(!found, "the variant \"\(variant)\" stayed")
            }
            let count = await measure(cache)?.count ?? 4
            try ConformanceFailure.require(count == 4, "\(count) of four others stayed")
        },
        Check("entries are counted") { make in
            guard let cache = try make(options) as? any MeasurableDataCache else { return }
            for name in ["a", "b", "a"] { try await cache.store(bytes(10), for: key(name)) }
            let two = await cache.count
            await cache.remove(key("a"))
            let one = await cache.count
            try ConformanceFailure.require(two == 2 && one == 1, "counted \(two) of two, then \(one) of one")
        },
        Check("it reports the entries that it contains") { make in
            let cache = try make(options)
            try await cache.store(bytes(10), for: key("a"))
            let (a, variant, b) = await (
                cache.contains(key("a")), cache.contains(key("a", variant: "v")), cache.contains(key("b"))
            )
            try ConformanceFailure.require(a && !variant && !b, "said \(a), \(variant), \(b)")
        },
        Check("an entry is found with its expiry") { make in
            let cache = try make(options)
            let expiry = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + 1000).rounded())
            try await cache.store(CachedData(bytes(10), expiry: expiry), for: key("a"))
            let found = await cache.entry(for: key("a"))?.expiry
            try ConformanceFailure.require(found == expiry, "it is \(String(describing: found)), not \(expiry)")
        },
        Check("an expired entry is not stored, and removes the entry under its key") { make in
            let cache = try make(options)
            try await cache.store(bytes(10), for: key("a"))
            try await cache.store(CachedData(bytes(10), expiry: Date(timeIntervalSince1970: 1000)), for: key("a"))
            let found = await cache.contains(key("a"))
            let count = await measure(cache)?.count ?? 0
            try ConformanceFailure.require(!found && count == 0, "found")
        },
        Check("flushing returns and loses no entry") { make in
            let cache = try make(options)
            await cache.flush()
            try await cache.store(bytes(10), for: key("a"))
            await cache.flush()
            let found = await cache.data(for: key("a"))
            try ConformanceFailure.require(found == bytes(10), "lost")
        },
        Check("removals complete in a cancelled task") { make in
            let cache = try make(options)
            for name in ["a", "b", "c"] { try await cache.store(bytes(10), for: key(name)) }
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                let removed = await cache.remove(key("a"))
                let others = await measure(cache)?.size ?? 20
                await cache.removeAll()
                return (removed, others)
            }
            let (removed, others) = await task.value
            try ConformanceFailure.require(removed, "removed nothing")
            try ConformanceFailure.require(others >= 20, "\(others) bytes of two entries of 10")
            guard let size = await measure(cache)?.size else {
                let found = await cache.entry(for: key("b"))
                return try ConformanceFailure.require(found == nil, "an entry stayed")
            }
            try ConformanceFailure.require(size == 0, "\(size) bytes stayed")
        },
        Check("the size stays within the limit, and the newest entry stays") { make in
            let cache = try make(ConformanceOptions(byteLimit: 64 << 10))
            for number in 0..<40 {
                try await cache.store(bytes(7 << 10), for: key("\(number)"))
                let newest = await cache.data(for: key("\(number)"))
                try ConformanceFailure.require(newest != nil, "entry \(number) went at once")
            }
            await cache.flush()
            var found = 0
            for number in 0..<40 where await cache.contains(key("\(number)")) { found += 1 }
            let (size, count) = await measure(cache) ?? (found * 7 << 10, found)
            try ConformanceFailure.require(size <= 64 << 10, "\(size) bytes are kept")
            try ConformanceFailure.require(count >= 4, "\(count) entries are kept, but the limit allows seven")
        },
        Check("an entry over the whole limit is an error, and evicts nothing") { make in
            let cache = try make(ConformanceOptions(byteLimit: 64 << 10))
            try await cache.store(bytes(100), for: key("small"))
            do {
                try await cache.store(bytes(65 << 10), for: key("large"))
            } catch let error as DataCacheError {
                try ConformanceFailure.require(error.code == .tooLarge, "the error is \(error.code)")
                let small = await cache.data(for: key("small"))
                try ConformanceFailure.require(small != nil, "an oversized entry evicted another")
                return
            }
            throw ConformanceFailure("an entry over the limit was stored")
        },
        Check("concurrent tasks find complete entries only") { make in
            let cache = try make(options)
            let contents = (0..<8 as Range<UInt8>).map { bytes(3000, seed: $0) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in contents.indices {
                    group.addTask {
                        for step in 0..<20 {
                            try await cache.store(contents[task], for: key("\((task + step) % 5)"))
                            // All entries are read, because other tasks are storing some of them at the same time.
                            for name in 0..<5 {
                                guard let found = await cache.data(for: key("\(name)")) else { continue }
                                try ConformanceFailure.require(contents.contains(found), "a mixture of two entries")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
    ]

    /// The additional checks for caches that keep their entries beyond their own lifetime.
    public static let persistenceChecks: [ConformanceCheck<any DataCaching>] = [
        Check("entries survive the cache that stored them") { make in
            let first = try make(options)
            let expiry = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + 1000).rounded())
            let entry = CachedData(bytes(5000), metadata: bytes(7), expiry: expiry)
            try await first.store(entry, for: key("a"))
            await first.flush()
            let second = try make(options)
            let found = await second.entry(for: key("a"))
            let size = await measure(second)?.size ?? 5007
            try ConformanceFailure.require(found == entry, "found \(String(describing: found))")
            try ConformanceFailure.require(size >= 5007, "\(size) bytes are counted")
        },
        Check("entries of another storage are not found") { make in
            try await make(options).store(bytes(10), for: key("a"))
            let found = try await make(ConformanceOptions(storage: 1)).data(for: key("a"))
            try ConformanceFailure.require(found == nil, "seen")
        },
    ]
}
