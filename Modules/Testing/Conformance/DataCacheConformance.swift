public import AlcedoCore
import FoundationEssentials

/// The contract of ``/AlcedoCore/DataCaching``, and of ``/AlcedoCore/MeasurableDataCache`` for caches that conform to
/// it.
///
/// A persistent cache needs an empty directory for each check. Within it, the cache opens the storage that
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

    /// The checks for all caches, for a parameterized test. Persistent caches also run ``persistenceChecks``.
    public static let checks: [ConformanceCheck<any DataCaching>] = [
        Check("a stored entry is returned with its metadata") { make in
            let cache = try make(options)
            let entry = CachedData(bytes(5000), metadata: Data("notes".utf8))
            try await cache.store(entry, for: key("a"))
            let found = await cache.entry(for: key("a"))
            try ConformanceFailure.require(found == entry, "returned \(String(describing: found))")
        },
        Check("a key without an entry returns nil") { make in
            let cache = try make(options)
            let found = await cache.entry(for: key("a"))
            try ConformanceFailure.require(found == nil, "an entry was returned")
        },
        Check("the returned data has the start index 0") { make in
            let cache = try make(options)
            try await cache.store(CachedData(bytes(10), metadata: bytes(10)), for: key("a"))
            let found = await cache.entry(for: key("a"))
            try ConformanceFailure.require(found?.data.startIndex == 0, "the data is a slice with another start index")
            try ConformanceFailure.require(
                found?.metadata.startIndex == 0, "the metadata is a slice with another start index")
        },
        Check("an entry with empty data is stored and returned") { make in
            let cache = try make(options)
            try await cache.store(CachedData(Data()), for: key("a"))
            let found = await cache.entry(for: key("a"))
            try ConformanceFailure.require(found == CachedData(Data()), "returned \(String(describing: found))")
        },
        Check("storing under an existing key replaces the entry") { make in
            let cache = try make(options)
            try await cache.store(bytes(4000, seed: 1), for: key("a"))
            try await cache.store(bytes(10, seed: 2), for: key("a"))
            let found = await cache.data(for: key("a"))
            try ConformanceFailure.require(found == bytes(10, seed: 2), "the old entry was returned")
        },
        Check("replacing an entry frees the size of the old entry") { make in
            let cache = try make(ConformanceOptions(byteLimit: 64 << 10))
            try await cache.store(bytes(7 << 10), for: key("other"))
            for seed in 0..<20 as Range<UInt8> { try await cache.store(bytes(7 << 10, seed: seed), for: key("a")) }
            await cache.flush()
            let (a, other) = await (cache.contains(key("a")), cache.contains(key("other")))
            try ConformanceFailure.require(a && other, "an entry was evicted although both fit")
        },
        Check("a variant and the original are separate entries") { make in
            let cache = try make(options)
            try await cache.store(bytes(10), for: key("a", variant: "small"))
            let found = await cache.data(for: key("a"))
            try ConformanceFailure.require(found == nil, "the variant was returned for the original")
        },
        Check("a key may contain any characters") { make in
            let cache = try make(options)
            let names = ["", "/", "../../etc/passwd", "a\0b", "👍🏽", String(repeating: "x", count: 10_000), "a b%2F"]
            for (seed, name) in names.enumerated() {
                try await cache.store(bytes(9, seed: UInt8(seed)), for: key(name))
            }
            for (seed, name) in names.enumerated() {
                let found = await cache.data(for: key(name))
                try ConformanceFailure.require(
                    found == bytes(9, seed: UInt8(seed)), "the entry of key number \(seed) was lost")
            }
        },
        Check("remove removes only its entry and returns whether it existed") { make in
            let cache = try make(options)
            try await cache.store(bytes(10), for: key("a"))
            try await cache.store(bytes(10), for: key("b"))
            let first = await cache.remove(key("a"))
            let second = await cache.remove(key("a"))
            try ConformanceFailure.require(first && !second, "returned \(first), then \(second)")
            let a = await cache.data(for: key("a"))
            let b = await cache.data(for: key("b"))
            try ConformanceFailure.require(a == nil, "the removed entry is still present")
            try ConformanceFailure.require(b != nil, "another entry was removed as well")
        },
        Check("removeAll removes all entries") { make in
            let cache = try make(options)
            for number in 0..<5 { try await cache.store(bytes(10), for: key("\(number)")) }
            await cache.removeAll()
            let found = await cache.data(for: key("0"))
            let (size, count) = await measure(cache) ?? (0, 0)
            try ConformanceFailure.require(found == nil && size == 0 && count == 0, "\(count) entries remain")
        },
        Check("removing a resource removes its original and variants only and returns their number") { make in
            let cache = try make(options)
            for variant in ["", "small", "round"] { try await cache.store(bytes(10), for: key("a", variant: variant)) }
            for name in ["b", "a ", "a [small]", ""] { try await cache.store(bytes(10), for: key(name)) }
            let first = await cache.removeAll(of: ResourceKey("a"))
            let second = await cache.removeAll(of: ResourceKey("a"))
            try ConformanceFailure.require(first == 3 && second == 0, "returned \(first), then \(second)")
            for variant in ["", "small", "round"] {
                let found = await cache.contains(key("a", variant: variant))
                try ConformanceFailure.require(!found, "the variant \"\(variant)\" remains")
            }
            let count = await measure(cache)?.count ?? 4
            try ConformanceFailure.require(count == 4, "\(count) of 4 other entries remain")
        },
        Check("the count is the number of entries") { make in
            guard let cache = try make(options) as? any MeasurableDataCache else { return }
            for name in ["a", "b", "a"] { try await cache.store(bytes(10), for: key(name)) }
            let two = await cache.count
            await cache.remove(key("a"))
            let one = await cache.count
            try ConformanceFailure.require(
                two == 2 && one == 1, "the count is \(two) instead of 2, then \(one) instead of 1")
        },
        Check("the metadata of an entry is returned alone") { make in
            let cache = try make(options)
            try await cache.store(CachedData(bytes(5000), metadata: Data("notes".utf8)), for: key("a"))
            try await cache.store(CachedData(bytes(50_000)), for: key("a", variant: "v"))
            let (a, variant, b) = await (
                cache.metadata(for: key("a")), cache.metadata(for: key("a", variant: "v")),
                cache.metadata(for: key("b"))
            )
            try ConformanceFailure.require(
                a == Data("notes".utf8) && variant == Data() && b == nil,
                "returned \(String(describing: (a, variant, b))) instead of five bytes, none, and nil")
        },
        Check("contains returns whether a key has an entry") { make in
            let cache = try make(options)
            try await cache.store(bytes(10), for: key("a"))
            let (a, variant, b) = await (
                cache.contains(key("a")), cache.contains(key("a", variant: "v")), cache.contains(key("b"))
            )
            try ConformanceFailure.require(
                a && !variant && !b, "returned \(a), \(variant), \(b) instead of true, false, false")
        },
        Check("an entry is returned with its expiry") { make in
            let cache = try make(options)
            let expiry = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + 1000).rounded())
            try await cache.store(CachedData(bytes(10), expiry: expiry), for: key("a"))
            let found = await cache.entry(for: key("a"))?.expiry
            try ConformanceFailure.require(
                found == expiry, "the expiry is \(String(describing: found)) instead of \(expiry)")
        },
        Check("storing an expired entry removes the existing entry") { make in
            let cache = try make(options)
            try await cache.store(bytes(10), for: key("a"))
            try await cache.store(CachedData(bytes(10), expiry: Date(timeIntervalSince1970: 1000)), for: key("a"))
            let found = await cache.contains(key("a"))
            let count = await measure(cache)?.count ?? 0
            try ConformanceFailure.require(!found && count == 0, "an entry remains")
        },
        Check("flush returns and loses no entry") { make in
            let cache = try make(options)
            await cache.flush()
            try await cache.store(bytes(10), for: key("a"))
            await cache.flush()
            let found = await cache.data(for: key("a"))
            try ConformanceFailure.require(found == bytes(10), "the entry was lost")
        },
        Check("removals complete in a canceled task") { make in
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
            try ConformanceFailure.require(removed, "remove returned false")
            try ConformanceFailure.require(others >= 20, "\(others) bytes remain of two entries of 10 bytes")
            guard let size = await measure(cache)?.size else {
                let found = await cache.entry(for: key("b"))
                return try ConformanceFailure.require(found == nil, "an entry remains")
            }
            try ConformanceFailure.require(size == 0, "\(size) bytes remain")
        },
        Check("the size stays within the limit and the newest entry is kept") { make in
            let cache = try make(ConformanceOptions(byteLimit: 64 << 10))
            for number in 0..<40 {
                try await cache.store(bytes(7 << 10), for: key("\(number)"))
                let newest = await cache.data(for: key("\(number)"))
                try ConformanceFailure.require(newest != nil, "entry \(number) was evicted immediately")
            }
            await cache.flush()
            var found = 0
            for number in 0..<40 where await cache.contains(key("\(number)")) { found += 1 }
            let (size, count) = await measure(cache) ?? (found * 7 << 10, found)
            try ConformanceFailure.require(size <= 64 << 10, "\(size) bytes exceed the limit")
            try ConformanceFailure.require(count >= 4, "only \(count) entries are kept although 7 fit")
        },
        Check("storing an entry above the limit throws and evicts nothing") { make in
            let cache = try make(ConformanceOptions(byteLimit: 64 << 10))
            try await cache.store(bytes(100), for: key("small"))
            do {
                try await cache.store(bytes(65 << 10), for: key("large"))
            } catch let error as DataCacheError {
                try ConformanceFailure.require(error.code == .tooLarge, "the error has the code \(error.code)")
                let small = await cache.data(for: key("small"))
                try ConformanceFailure.require(small != nil, "an entry above the limit evicted another entry")
                return
            }
            throw ConformanceFailure("an entry above the limit was stored")
        },
        Check("concurrent tasks read only complete entries") { make in
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
                                try ConformanceFailure.require(contents.contains(found), "the data mixes two entries")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
    ]

    /// The additional checks for persistent caches, whose entries outlast the cache object. A check releases the
    /// previous cache before the next one opens the same storage.
    public static let persistenceChecks: [ConformanceCheck<any DataCaching>] = [
        Check("entries persist after the cache is deinitialized") { make in
            let expiry = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + 1000).rounded())
            let entry = CachedData(bytes(5000), metadata: bytes(7), expiry: expiry)
            do {
                // Released at the end of this scope.
                let cache = try make(options)
                try await cache.store(entry, for: key("a"))
                await cache.flush()
            }
            let cache = try make(options)
            let found = await cache.entry(for: key("a"))
            let size = await measure(cache)?.size ?? 5007
            try ConformanceFailure.require(found == entry, "returned \(String(describing: found))")
            try ConformanceFailure.require(size >= 5007, "the size is only \(size) bytes")
        },
        Check("caches with separate storage share no entries") { make in
            try await make(options).store(bytes(10), for: key("a"))
            let found = try await make(ConformanceOptions(storage: 1)).data(for: key("a"))
            try ConformanceFailure.require(found == nil, "an entry of other storage was returned")
        },
    ]
}
