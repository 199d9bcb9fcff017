public import AlcedoCore

/// The contract of ``/AlcedoCore/MemoryCaching``, and of ``/AlcedoCore/MaintainableMemoryCache`` for caches that
/// conform to it.
///
/// ```swift
/// import AlcedoMemoryCache
/// import AlcedoTesting
/// import Testing
///
/// @Test(arguments: MemoryCacheConformance.checks)
/// func conforms(to check: MemoryCacheConformance.Check) async throws {
///     try await check { ImageMemoryCache(costLimit: $0.byteLimit) }
/// }
/// ```
public enum MemoryCacheConformance: ConformanceKit {
    /// Returns the cost of an image of one pixel in a cache that `make` creates. A cache that does not report costs is
    /// assumed to use ``/AlcedoCore/DecodedImage/cost``. Throws ``ConformanceFailure`` unless the cost is positive.
    private static func unit(_ make: Check.Factory) throws -> Int {
        let cache = try make(ConformanceOptions(byteLimit: 1 << 20))
        cache.store(.gray(side: 1), for: key("unit"))
        guard let cost = cost(of: cache) else { return DecodedImage.gray(side: 1).cost }
        try ConformanceFailure.require(cost > 0, "a stored image has no cost")
        return cost
    }

    /// Returns the total cost of the images in the cache; nil if the cache does not report it.
    private static func cost(of cache: any MemoryCaching) -> Int? {
        (cache as? any MaintainableMemoryCache)?.totalCost
    }

    /// Throws ``ConformanceFailure`` unless the total cost of the images equals `expected`. Passes for a cache that
    /// does not report its cost.
    private static func require(_ expected: Int, of cache: any MemoryCaching) throws {
        guard let cost = cost(of: cache) else { return }
        try ConformanceFailure.require(cost == expected, "the total cost is \(cost) instead of \(expected)")
    }

    private static func key(_ name: String, variant: String = "") -> ImageKey {
        ImageKey(ResourceKey(name), variant: variant)
    }

    /// All checks of the contract, for a parameterized test.
    public static let checks: [ConformanceCheck<any MemoryCaching>] = [
        Check("a stored image is returned, and only under its key") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 10 * unit))
            cache.store(.gray(side: 1, level: 7), for: key("a"))
            let found = cache.image(for: key("a"))
            try ConformanceFailure.require(
                found?.pixels == DecodedImage.gray(side: 1, level: 7).pixels, "the stored image was not returned")
            try ConformanceFailure.require(cache.image(for: key("b")) == nil, "an entry was returned for another key")
        },
        Check("contains returns whether a key has an entry") { make in
            let cache = try make(ConformanceOptions(byteLimit: 10 * (try unit(make))))
            cache.store(.gray(side: 1), for: key("a"))
            try ConformanceFailure.require(cache.contains(key("a")), "contains returned false for a stored image")
            try ConformanceFailure.require(!cache.contains(key("b")), "contains returned true for a missing image")
        },
        Check("a variant and the original are separate entries") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 10 * unit))
            cache.store(.gray(side: 1), for: key("a", variant: "small"))
            try ConformanceFailure.require(
                cache.image(for: key("a")) == nil, "the variant was returned for the original")
        },
        Check("storing under an existing key replaces the image and its cost") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 10 * unit))
            cache.store(.gray(side: 1, level: 1), for: key("a"))
            cache.store(.gray(side: 1, level: 2), for: key("a"))
            let found = cache.image(for: key("a"))?.pixels
            try ConformanceFailure.require(
                found == DecodedImage.gray(side: 1, level: 2).pixels, "the old image was returned")
            try require(unit, of: cache)
        },
        Check("replacing an image frees the cost of the old image") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 10 * unit))
            cache.store(.gray(side: 1), for: key("other"))
            for level in 0..<20 as Range<UInt8> { cache.store(.gray(side: 1, level: level), for: key("a")) }
            try ConformanceFailure.require(
                cache.image(for: key("a")) != nil && cache.image(for: key("other")) != nil,
                "an image was evicted although both fit")
        },
        Check("an image stored for a request replaces the image under its key, or removes it") { make in
            let cache = try make(ConformanceOptions(byteLimit: 10 * (try unit(make))))
            let request = ImageRequest(source: .file("/a"))
            cache.store(.gray(side: 1, level: 1), for: request.key)
            cache.store(.gray(side: 1, level: 2), for: request)
            let found = cache.image(for: request.key)?.pixels
            try ConformanceFailure.require(
                found == nil || found == DecodedImage.gray(side: 1, level: 2).pixels, "the old image was returned")
        },
        Check("the total cost never exceeds the limit") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 3 * unit))
            for number in 0..<50 {
                cache.store(.gray(side: 1), for: key("\(number)"))
                let found = cost(of: cache) == nil ? (0...number).count { cache.image(for: key("\($0)")) != nil } : 0
                let cost = cost(of: cache) ?? found * unit
                try ConformanceFailure.require(cost <= 3 * unit, "the total cost is \(cost) after image \(number)")
            }
        },
        Check("an image above the limit is not stored and evicts no other image") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 2 * unit))
            cache.store(.gray(side: 1), for: key("small"))
            cache.store(.gray(side: 200), for: key("large"))
            try ConformanceFailure.require(cache.image(for: key("large")) == nil, "an image above the limit was stored")
            try ConformanceFailure.require(
                cache.image(for: key("small")) != nil, "an image above the limit evicted another image")
        },
        Check("an image above the limit removes the image under its key") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 2 * unit))
            cache.store(.gray(side: 1), for: key("a"))
            cache.store(.gray(side: 200), for: key("a"))
            try ConformanceFailure.require(cache.image(for: key("a")) == nil, "an outdated image remains")
            try require(0, of: cache)
        },
        Check("a cache with a limit of zero stores nothing") { make in
            let cache = try make(ConformanceOptions(byteLimit: 0))
            cache.store(.gray(side: 1), for: key("a"))
            try ConformanceFailure.require(cache.image(for: key("a")) == nil, "an image was stored")
        },
        Check("remove removes only its image and returns whether it existed") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 10 * unit))
            cache.store(.gray(side: 1), for: key("a"))
            cache.store(.gray(side: 1), for: key("b"))
            try ConformanceFailure.require(cache.remove(key("a")), "remove returned false for a stored image")
            try ConformanceFailure.require(!cache.remove(key("a")), "remove returned true for a removed image")
            try ConformanceFailure.require(cache.image(for: key("a")) == nil, "the removed entry is still present")
            try ConformanceFailure.require(cache.image(for: key("b")) != nil, "another entry was removed as well")
            try require(unit, of: cache)
        },
        Check("removing a resource removes all its variants and no other resource") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 10 * unit))
            for key in [key("a"), key("a", variant: "small"), key("a", variant: "round"), key("ab"), key("b")] {
                cache.store(.gray(side: 1), for: key)
            }
            try ConformanceFailure.require(
                cache.removeAll(of: ResourceKey("a")) == 3, "removeAll(of:) did not return 3")
            for key in [key("a"), key("a", variant: "small"), key("a", variant: "round")] {
                try ConformanceFailure.require(cache.image(for: key) == nil, "\(key) remains")
            }
            try ConformanceFailure.require(
                cache.image(for: key("ab")) != nil, "a resource with a longer name was removed as well")
            try ConformanceFailure.require(cache.image(for: key("b")) != nil, "another resource was removed as well")
            try require(2 * unit, of: cache)
            try ConformanceFailure.require(
                cache.removeAll(of: ResourceKey("a")) == 0, "the second removeAll(of:) did not return 0")
        },
        Check("removeAll removes all entries") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 10 * unit))
            for number in 0..<5 { cache.store(.gray(side: 1), for: key("\(number)")) }
            cache.removeAll()
            try require(0, of: cache)
            try ConformanceFailure.require(cache.image(for: key("0")) == nil, "an image remains")
        },
        Check("trimming reaches the requested cost") { make in
            let unit = try unit(make)
            guard let cache = try make(ConformanceOptions(byteLimit: 10 * unit)) as? any MaintainableMemoryCache else {
                return
            }
            for number in 0..<10 { cache.store(.gray(side: 1), for: key("\(number)")) }
            cache.trim(toCost: 4 * unit)
            try ConformanceFailure.require(
                cache.totalCost <= 4 * unit, "the total cost is \(cache.totalCost) after the trim")
            cache.trim(toCost: 0)
            try ConformanceFailure.require(
                cache.totalCost == 0, "the total cost is \(cache.totalCost) after a trim to zero")
        },
        Check("concurrent tasks keep the total cost correct") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 20 * unit))
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        for step in 0..<200 {
                            let key = key("\((task * 7 + step) % 40)")
                            switch step % 4 {
                            case 0, 1: cache.store(.gray(side: 1), for: key)
                            case 2: _ = cache.image(for: key)
                            default: cache.remove(key)
                            }
                        }
                    }
                }
            }
            let left = (0..<40).filter { cache.image(for: key("\($0)")) != nil }.count
            try require(left * unit, of: cache)
            try ConformanceFailure.require(left <= 20, "\(left) images are stored although 20 fit")
        },
    ]
}
