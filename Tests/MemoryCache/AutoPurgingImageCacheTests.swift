import AlcedoCore
import AlcedoMemoryCache
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The contract of AFNetworking's `AFAutoPurgingImageCache`, tested with the cases of AFNetworking and AlamofireImage.
@Suite(.timeLimit(.minutes(10)))
struct AutoPurgingImageCacheTests {
    @Test(arguments: MemoryCacheConformance.checks)
    func `the auto-purging cache passes each conformance check`(check: MemoryCacheConformance.Check) async throws {
        try await check {
            AutoPurgingImageCache(
                memoryCapacity: $0.byteLimit, preferredMemoryUsageAfterPurge: $0.byteLimit, pressureSource: nil)
        }
    }

    /// An image of four bytes.
    private let pixel = DecodedImage.gray(side: 1)

    private func cache(_ capacity: Int, _ preferred: Int) -> AutoPurgingImageCache {
        AutoPurgingImageCache(
            memoryCapacity: capacity, preferredMemoryUsageAfterPurge: preferred, pressureSource: nil)
    }

    private func request(_ text: String) throws -> ImageRequest {
        ImageRequest(url: try #require(URL(string: text)))
    }

    @Test func `the default capacity is 100 MiB and the default preferred usage 60 MiB`() {
        let cache = AutoPurgingImageCache()
        #expect(cache.memoryCapacity == 104_857_600)
        #expect(cache.preferredMemoryUsageAfterPurge == 62_914_560)
    }

    @Test func `the cost of an image is width times height times four`() {
        let cache = cache(1000, 500)
        cache.add(.gray(side: 7), withIdentifier: "a")
        #expect(cache.totalCost == 7 * 7 * 4)
        cache.add(.gray(side: 3), withIdentifier: "a")
        #expect(cache.totalCost == 3 * 3 * 4)
    }

    @Test func `a purge begins above the capacity and ends at or below the preferred usage`() {
        let cache = cache(40, 24)
        for number in 0..<10 { cache.add(pixel, withIdentifier: "\(number)") }
        #expect(cache.totalCost == 40)

        cache.add(pixel, withIdentifier: "10")
        #expect(cache.totalCost == 24)
        #expect(cache.image(withIdentifier: "4") == nil)
        #expect((5...10).allSatisfy { cache.image(withIdentifier: "\($0)") != nil })
    }

    @Test func `statistics count hits, misses and evictions`() {
        let cache = cache(40, 24)
        for number in 0..<11 { cache.add(pixel, withIdentifier: "\(number)") }
        _ = (cache.image(withIdentifier: "10"), cache.image(withIdentifier: "0"))

        let statistics = cache.statistics
        #expect(statistics.hits == 1)
        #expect(statistics.misses == 1)
        #expect(statistics.stores == 11)
        #expect(statistics.evictions.values.reduce(0, +) == 5)
    }

    @Test func `images that were read recently survive a purge`() {
        let cache = cache(40, 24)
        for number in 0..<10 { cache.add(pixel, withIdentifier: "\(number)") }
        for number in [0, 1] { #expect(cache.image(withIdentifier: "\(number)") != nil) }
        cache.add(pixel, withIdentifier: "10")
        #expect(cache.image(withIdentifier: "0") != nil)
        #expect(cache.image(withIdentifier: "1") != nil)
        #expect(cache.image(withIdentifier: "2") == nil)
    }

    @Test
    func `an image over the preferred usage is purged with the others, and one over the capacity evicts all`() {
        let cache = cache(100, 30)
        cache.add(.gray(side: 4), withIdentifier: "64")
        #expect(cache.totalCost == 64)
        cache.add(.gray(side: 4), withIdentifier: "again")
        #expect(cache.totalCost == 0)

        cache.add(pixel, withIdentifier: "a")
        cache.add(.gray(side: 6), withIdentifier: "144")
        #expect(cache.totalCost == 0)
        #expect(cache.image(withIdentifier: "a") == nil)
    }

    @Test func `removing returns whether there was an image`() {
        let cache = cache(100, 50)
        cache.add(pixel, withIdentifier: "a")
        #expect(cache.removeImage(withIdentifier: "a"))
        #expect(!cache.removeImage(withIdentifier: "a"))
        cache.add(pixel, withIdentifier: "a")
        #expect(cache.removeAll())
        #expect(!cache.removeImage(withIdentifier: "a"))
        #expect(cache.totalCost == 0)
        #expect(!cache.removeAll())

        cache.add(pixel, withIdentifier: "a")
        (cache as any MemoryCaching).removeAll()
        #expect(cache.totalCost == 0)
    }

    @Test func `the additional identifier is part of the image's key`() throws {
        let cache = cache(1000, 500)
        let request = try request("https://example.org/a.png")
        cache.add(pixel, for: request, withAdditionalIdentifier: "filter")
        #expect(cache.image(for: request) == nil)
        #expect(cache.image(for: request, withAdditionalIdentifier: "other") == nil)
        #expect(cache.image(for: request, withAdditionalIdentifier: "filter") != nil)
        // The URL followed by the identifier.
        #expect(cache.image(withIdentifier: "https://example.org/a.pngfilter") != nil)
        #expect(!cache.removeImage(for: request))
        #expect(cache.removeImage(for: request, withAdditionalIdentifier: "filter"))
    }

    @Test func `a request that forbids caching stores nothing`() throws {
        let isSecret = ImageRequest.UserInfo.Key<Bool>("secret")
        let cache = AutoPurgingImageCache(pressureSource: nil) { image, request, identifier in
            image.size.width > 1 && identifier != "no" && request.userInfo[isSecret] == nil
        }
        var request = try request("https://example.org/a.png")
        cache.add(pixel, for: request)
        cache.add(.gray(side: 2), for: request, withAdditionalIdentifier: "no")
        request.userInfo[isSecret] = true
        cache.add(.gray(side: 2), for: request)
        #expect(cache.totalCost == 0)
        request.userInfo[isSecret] = nil
        #expect(cache.shouldCache(.gray(side: 2), for: request))
        cache.add(.gray(side: 2), for: request)
        #expect(cache.totalCost == 16)
    }

    @Test func `a memory warning removes all images`() {
        let source = ManualMemoryPressureSource()
        let cache = AutoPurgingImageCache(pressureSource: source)
        cache.add(pixel, withIdentifier: "a")
        source.set(.warning)
        #expect(cache.totalCost == 0)
    }

    @Test func `a larger or smaller capacity takes effect when the next image is stored`() {
        let cache = cache(40, 24)
        for number in 0..<10 { cache.add(pixel, withIdentifier: "\(number)") }
        cache.memoryCapacity = 80
        for number in 10..<20 { cache.add(pixel, withIdentifier: "\(number)") }
        #expect(cache.totalCost == 80)

        cache.memoryCapacity = 20
        cache.preferredMemoryUsageAfterPurge = 12
        #expect(cache.memoryCapacity == 20)
        #expect(cache.preferredMemoryUsageAfterPurge == 12)
        #expect(cache.totalCost == 80)
        cache.store(pixel, for: ImageKey(ResourceKey("20")))
        #expect(cache.totalCost == 12)
        #expect((18...20).allSatisfy { cache.image(withIdentifier: "\($0)") != nil })

        cache.memoryCapacity = 0
        cache.add(pixel, withIdentifier: "21")
        #expect(cache.totalCost == 0)
    }

    @Test func `a preferred usage above the capacity counts as the capacity`() {
        let cache = cache(12, 1000)
        for number in 0..<4 { cache.add(pixel, withIdentifier: "\(number)") }
        #expect(cache.totalCost == 12)
    }

    @Test func `a key and the identifier of the same name find one image`() throws {
        let cache = cache(1000, 500)
        let key = ImageKey(ResourceKey("a"))
        cache.add(pixel, withIdentifier: "a")
        #expect(cache.contains(key))
        #expect(cache.image(for: key) != nil)
        #expect(cache.removeAll(of: ResourceKey("a")) == 1)
        cache.store(pixel, for: key)
        #expect(cache.image(withIdentifier: "a") != nil)

        cache.store(.gray(side: 2), for: ImageKey(ResourceKey("a"), variant: "round"))
        #expect(cache.image(withIdentifier: "around")?.size.width == 2)
        #expect(cache.removeAll(of: ResourceKey("a")) == 2)
        #expect(cache.totalCost == 0)
    }

    @Test func `keys whose names are equal replace one another and never find each other`() {
        let cache = cache(1000, 500)
        let (first, second) = (ImageKey(ResourceKey("a"), variant: "bc"), ImageKey(ResourceKey("ab"), variant: "c"))
        cache.store(.gray(side: 1), for: first)
        #expect(cache.image(for: second) == nil)
        #expect(!cache.contains(second))
        #expect(!cache.remove(second))
        #expect(cache.removeAll(of: second.resource) == 0)
        cache.store(.gray(side: 2), for: second)
        #expect(cache.image(for: first) == nil)
        #expect(cache.image(for: second)?.size.width == 2)
        #expect(cache.totalCost == 16)
    }

    @Test func `storing an image that should not be cached removes the earlier image of its request`() throws {
        let cache = AutoPurgingImageCache(pressureSource: nil) { image, _, _ in image.size.width < 3 }
        let request = try request("https://example.org/a.png")
        cache.store(.gray(side: 2), for: request)
        #expect(cache.totalCost == 16)
        cache.store(.gray(side: 3), for: request)
        #expect(cache.totalCost == 0)
    }

    /// AFNetworking keeps the previous image.
    @Test func `adding an image that should not be cached changes nothing`() throws {
        let cache = AutoPurgingImageCache(pressureSource: nil) { image, _, _ in image.size.width < 3 }
        let request = try request("https://example.org/a.png")
        cache.add(.gray(side: 2), for: request)
        cache.add(.gray(side: 3), for: request)
        #expect(cache.image(for: request)?.size.width == 2)
    }

    @Test func `removing by key keeps an image that is stored meanwhile under another key of that name`() async {
        let cache = cache(1000, 500)
        let (first, second) = (ImageKey(ResourceKey("a"), variant: "bc"), ImageKey(ResourceKey("ab"), variant: "c"))
        for round in 0..<5000 {
            cache.store(pixel, for: first)
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    guard round % 2 == 0 else {
                        cache.removeAll(of: first.resource)
                        return
                    }
                    cache.remove(first)
                }
                group.addTask { cache.store(pixel, for: second) }
            }
            guard cache.contains(second) else {
                Issue.record("the image that was stored in round \(round) is lost")
                return
            }
        }
    }

    @Test func `concurrent readers and writers leave the memory usage correct`() async {
        let cache = cache(400, 240)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<6 {
                group.addTask {
                    for step in 0..<500 {
                        let name = "\((task * 31 + step) % 120)"
                        if step % 3 == 0 {
                            _ = cache.image(withIdentifier: name)
                        } else {
                            cache.add(pixel, withIdentifier: name)
                        }
                        if step % 50 == 0 { cache.removeImage(withIdentifier: name) }
                    }
                }
            }
        }
        let left = (0..<120).filter { cache.image(withIdentifier: "\($0)") != nil }.count
        #expect(cache.totalCost == left * 4)
        #expect(cache.totalCost <= 400)
    }
}
