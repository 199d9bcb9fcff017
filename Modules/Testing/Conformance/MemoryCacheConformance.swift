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
    /// Returns the cost of the smallest image in the caches that `make` creates. Most caches use
    /// ``/AlcedoCore/DecodedImage/cost``, but some define the cost differently.
    private static func unit(_ make: Check.Factory) throws -> Int {
        let cache = try make(ConformanceOptions(byteLimit: 1 << 20))
        cache.store(.gray(side: 1), for: key("unit"))
        guard let cost = cost(of: cache) else { return DecodedImage.gray(side: 1).cost }
        try ConformanceFailure.require(cost > 0, "an image that is stored costs nothing")
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
        try ConformanceFailure.require(cost == expected, "cost \(cost), not \(expected)")
    }

    private static func key(_ name: String, variant: String = "") -> ImageKey {
        ImageKey(ResourceKey(name), variant: variant)
    }

    /// All checks of the contract, for a parameterized test.
    public static let checks: [ConformanceCheck<any MemoryCaching>] = [
        Check("a stored image is found, and no other") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 10 * unit))
            cache.store(.gray(side: 1, level: 7), for: key("a"))
            let found = cache.image(for: key("a"))
            try ConformanceFailure.require(found?.pixels == DecodedImage.gray(side: 1, level: 7).pixels, "not found")
            try ConformanceFailure.require(cache.image(for: key("b")) == nil, "found an entry that was not stored")
        },
        Check("it reports the entries that it contains") { make in
            let cache = try make(ConformanceOptions(byteLimit: 10 * (try unit(make))))
            cache.store(.gray(side: 1), for: key("a"))
            try ConformanceFailure.require(cache.contains(key("a")), "a stored entry is not reported")
            try ConformanceFailure.require(!cache.contains(key("b")), "a missing entry is reported")
        },
        Check("a variant and the original are separate entries") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 10 * unit))
            cache.store(.gray(side: 1), for: key("a", variant: "small"))
            try ConformanceFailure.require(cache.image(for: key("a")) == nil, "the variant was found for the original")
        },
        Check("storing again replaces the image and its cost") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 10 * unit))
            cache.store(.gray(side: 1, level: 1), for: key("a"))
            cache.store(.gray(side: 1, level: 2), for: key("a"))
            let found = cache.image(for: key("a"))?.pixels
            try ConformanceFailure.require(found == DecodedImage.gray(side: 1, level: 2).pixels, "the old image stayed")
            try require(unit, of: cache)
        },
        Check("the sum of the costs never exceeds the limit") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 3 * unit))
            for number in 0..<50 {
                cache.store(.gray(side: 1), for: key("\(number)"))
                let found = cost(of: cache) == nil ? (0...number).count { cache.image(for: key("\($0)")) != nil } : 0
                let cost = cost(of: cache) ?? found * unit
                try ConformanceFailure.require(cost <= 3 * unit, "cost \(cost) after \(number)")
            }
        },
        Check("an image over the whole limit is not stored, and evicts nothing else") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 2 * unit))
            cache.store(.gray(side: 1), for: key("small"))
            cache.store(.gray(side: 200), for: key("large"))
            try ConformanceFailure.require(cache.image(for: key("large")) == nil, "an image over the limit was stored")
            try ConformanceFailure.require(cache.image(for: key("small")) != nil, "an oversized image evicted another")
        },
        Check("an image over the whole limit removes the image that it was to replace") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 2 * unit))
            cache.store(.gray(side: 1), for: key("a"))
            cache.store(.gray(side: 200), for: key("a"))
            try ConformanceFailure.require(cache.image(for: key("a")) == nil, "an outdated image stayed")
            try require(0, of: cache)
        },
        Check("a limit of zero stores nothing") { make in
            let cache = try make(ConformanceOptions(byteLimit: 0))
            cache.store(.gray(side: 1), for: key("a"))
            try ConformanceFailure.require(cache.image(for: key("a")) == nil, "stored without room")
        },
        Check("removing removes that image only, and says whether there was one") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 10 * unit))
            cache.store(.gray(side: 1), for: key("a"))
            cache.store(.gray(side: 1), for: key("b"))
            try ConformanceFailure.require(cache.remove(key("a")), "said there was none")
            try ConformanceFailure.require(!cache.remove(key("a")), "said there was one, twice")
            try ConformanceFailure.require(cache.image(for: key("a")) == nil, "still there")
            try ConformanceFailure.require(cache.image(for: key("b")) != nil, "another went too")
            try require(unit, of: cache)
        },
        Check("removing a resource removes all its variants, and no other's") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 10 * unit))
            for key in [key("a"), key("a", variant: "small"), key("a", variant: "round"), key("ab"), key("b")] {
                cache.store(.gray(side: 1), for: key)
            }
            try ConformanceFailure.require(cache.removeAll(of: ResourceKey("a")) == 3, "not as many went as were there")
            for key in [key("a"), key("a", variant: "small"), key("a", variant: "round")] {
                try ConformanceFailure.require(cache.image(for: key) == nil, "\(key) stayed")
            }
            try ConformanceFailure.require(cache.image(for: key("ab")) != nil, "one of a longer name went too")
            try ConformanceFailure.require(cache.image(for: key("b")) != nil, "another resource went too")
            try require(2 * unit, of: cache)
            try ConformanceFailure.require(cache.removeAll(of: ResourceKey("a")) == 0, "some went twice")
        },
        Check("removing everything leaves nothing") { make in
            let unit = try unit(make)
            let cache = try make(ConformanceOptions(byteLimit: 10 * unit))
            for number in 0..<5 { cache.store(.gray(side: 1), for: key("\(number)")) }
            cache.removeAll()
            try require(0, of: cache)
            try ConformanceFailure.require(cache.image(for: key("0")) == nil, "an image stayed")
        },
        Check("trimming reaches the requested cost") { make in
            let unit = try unit(make)
            guard let cache = try make(ConformanceOptions(byteLimit: 10 * unit)) as? any MaintainableMemoryCache else {
                return
            }
            for number in 0..<10 { cache.store(.gray(side: 1), for: key("\(number)")) }
            cache.trim(toCost: 4 * unit)
            try ConformanceFailure.require(cache.totalCost <= 4 * unit, "cost \(cache.totalCost) after the trim")
            cache.trim(toCost: 0)
            try ConformanceFailure.require(cache.totalCost == 0, "cost \(cache.totalCost) after a trim to zero")
        },
        Check("concurrent tasks keep the cost correct") { make in
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
            try ConformanceFailure.require(left <= 20, "\(left) images are kept, but the limit allows 20")
        },
    ]
}
