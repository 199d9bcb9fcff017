import AlcedoCore
import AlcedoDiskCache
import AlcedoMemoryCache
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials
import TestSupport
import Testing

/// Answers as the entries of a data cache, alone and below a memory store.
@Suite(.timeLimit(.minutes(3)))
struct DataResponseStoreTests {
    private let data = DataMemoryCache(sizeLimit: 1 << 20)

    private func key(_ name: String, _ variant: String = "") -> ImageKey {
        ImageKey(ResourceKey(name), variant: variant)
    }

    private func response(_ policy: ResponseStoragePolicy = .allowed, at seconds: TimeInterval = 0) -> StoredResponse {
        StoredResponse(
            head: HTTPResponseHead(url: Bench.url, status: 203, fields: ["A": "1", "a": "é", "B": ""]),
            body: Data([0, 255]), part: ContentPart(offset: 5, completeCount: nil), varyingFields: ["accept": "x"],
            requestTime: start + seconds, responseTime: start + seconds + 0.25,
            terms: ReuseTerms(
                conditions: [.immutable, .heuristic], date: start - 7, initialAge: 1.5, lifetime: 2,
                staleWhileRevalidate: 3,
                staleIfError: 4),
            storagePolicy: policy, userInfo: ["k": "v", "": ""])
    }

    @Test func `everything about an entry comes back`() async {
        let store = DataResponseStore(data as any DataCaching)
        let variants = ResponseVariants(
            nameLists: [["a", "b"], []], tagged: [ResponseVariants.Tagged(variant: "v", entityTag: "\"t\"")])
        for entry in [.response(response()), .variants(variants), .variants(ResponseVariants())] as [ResponseEntry] {
            await store.store(entry, for: key("a"))
            #expect(await store.entry(for: key("a")) == entry)
        }
    }

    @Test func `what is not for disk takes away what was there`() async {
        let store = DataResponseStore(data as any DataCaching)
        for policy in [ResponseStoragePolicy.allowedInMemoryOnly, .notAllowed] {
            await store.store(.response(response()), for: key("a"))
            await store.store(.response(response(policy)), for: key("a"))
            #expect(await store.entry(for: key("a")) == nil)
        }
    }

    @Test func `foreign bytes are a miss, and go`() async throws {
        let store = DataResponseStore(data as any DataCaching)
        try data.store(CachedData("x".data, metadata: "y".data), for: key("a"))

        #expect(await store.entry(for: key("a")) == nil)
        #expect(data.entry(for: key("a")) == nil)
    }

    @Test func `a cache that lists its entries forgets only those since a date, another all`() async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        let files = FileDiskCache(directory: directory.url, lockPatience: .seconds(300), clock: clock)
        let stores = [
            (DataResponseStore(files as any MaintainableDataCache), true),
            (DataResponseStore(data as any DataCaching), false),
        ]
        for (store, isLeft) in stores {
            clock.setDate(start)
            await store.store(.response(response()), for: key("a"))
            clock.setDate(start + 10)
            await store.store(.response(response(at: 10)), for: key("b"))

            await store.removeAll(storedSince: start + 5)

            let left = await store.entry(for: key("a"))
            #expect((left != nil) == isLeft)
            #expect(await store.entry(for: key("b")) == nil)
        }
    }

    @Test func `what is found below is kept above from then on, and goes in both`() async {
        let memory = MemoryResponseStore()
        let below = DataResponseStore(data as any DataCaching)
        let store = TieredResponseStore(memory, over: below)
        await below.store(.response(response()), for: key("a", "v"))

        #expect(await store.entry(for: key("a", "v")) == .response(response()))
        #expect(await memory.entry(for: key("a", "v")) != nil)
        await store.removeAll(of: ResourceKey("a"))
        #expect(await memory.entry(for: key("a", "v")) == nil)
        #expect(await below.entry(for: key("a", "v")) == nil)

        await store.store(.response(response(.allowedInMemoryOnly)), for: key("b"))
        #expect(await store.entry(for: key("b")) != nil)
        #expect(await below.entry(for: key("b")) == nil)
        await store.remove(key("b"))
        #expect(await store.entry(for: key("b")) == nil)
    }
}
