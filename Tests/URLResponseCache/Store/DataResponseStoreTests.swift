import AlcedoCore
import AlcedoDiskCache
import AlcedoHTTP
import AlcedoMemoryCache
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials
import TestSupport
import Testing

/// Responses as the entries of a data cache, alone and below a memory store.
@Suite(.timeLimit(.minutes(10)))
struct DataResponseStoreTests {
    private let data = DataMemoryCache(sizeLimit: 1 << 20)

    private func key(_ name: String, _ variant: String = "") -> ImageKey {
        ImageKey(ResourceKey(name), variant: variant)
    }

    private func response(
        _ policy: ResponseStoragePolicy = .allowed, at seconds: TimeInterval = 0, timeToLive: TimeInterval? = 5
    ) -> StoredResponse {
        StoredResponse(
            head: HTTPResponseHead(url: Bench.url, status: 203, fields: ["A": "1", "a": "é", "B": ""]),
            body: Data([0, 255]), part: ContentPart(offset: 5, completeCount: nil), varyingFields: ["accept": "x"],
            requestTime: start + seconds, responseTime: start + seconds + 0.25,
            terms: Freshness(
                conditions: [.immutable, .heuristic], date: start - 7, initialAge: 1.5, lifetime: 2,
                staleWhileRevalidate: 3, staleIfError: 4, timeToLive: timeToLive),
            storagePolicy: policy, userInfo: ["k": "v", "": ""])
    }

    @Test func `an entry is read with all its values`() async {
        let store = DataResponseStore(data as any MeasurableDataCache)
        let variants = ResponseVariants(
            nameLists: [["a", "b"], []], tagged: [ResponseVariants.Tagged(variant: "v", entityTag: "\"t\"")])
        for entry in [
            .response(response()), .response(response(timeToLive: nil)), .variants(variants),
            .variants(ResponseVariants()),
        ] as [ResponseEntry] {
            await store.store(entry, for: key("a"))
            #expect(await store.entry(for: key("a")) == entry)
        }
    }

    @Test func `a negative time to live is not read as unlimited`() async {
        let store = DataResponseStore(data as any MeasurableDataCache)
        await store.store(.response(response(timeToLive: -3)), for: key("a"))

        #expect(await store.entry(for: key("a")) == .response(response(timeToLive: 0)))
    }

    @Test func `an entry that is not for disk removes the stored one`() async {
        let store = DataResponseStore(data as any MeasurableDataCache)
        for policy in [ResponseStoragePolicy.allowedInMemoryOnly, .notAllowed] {
            await store.store(.response(response()), for: key("a"))
            await store.store(.response(response(policy)), for: key("a"))
            #expect(await store.entry(for: key("a")) == nil)
        }
    }

    @Test func `foreign bytes are a miss and are removed`() async throws {
        let store = DataResponseStore(data as any MeasurableDataCache)
        try data.store(CachedData("x".data, metadata: "y".data), for: key("a"))

        #expect(await store.entry(for: key("a")) == nil)
        #expect(data.entry(for: key("a")) == nil)
    }

    @Test func `a cache that lists entries removes those since a date, and another removes all`() async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        let files = FileDiskCache(directory: directory.url, lockTimeout: .seconds(300), clock: clock)
        let stores = [
            (DataResponseStore(files as any MaintainableDataCache), true),
            (DataResponseStore(data as any MeasurableDataCache), false),
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

    @Test func `variants older than a date are still found when newer ones are removed`() async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        let store = DataResponseStore(
            FileDiskCache(directory: directory.url, lockTimeout: .seconds(300), clock: clock)
                as any MaintainableDataCache)
        clock.setDate(start)
        await store.store(.response(response()), for: key("a", "old"))
        clock.setDate(start + 10)
        await store.store(.response(response(at: 10)), for: key("a", "new"))
        await store.store(.variants(ResponseVariants(nameLists: [["accept"]])), for: key("a"))

        await store.removeAll(storedSince: start + 5)

        #expect(await store.entry(for: key("a")) == .variants(ResponseVariants(nameLists: [["accept"]])))
        #expect(await store.entry(for: key("a", "old")) == .response(response()))
        #expect(await store.entry(for: key("a", "new")) == nil)
    }

    @Test func `an entry found in the lower tier is promoted, and removal affects both`() async {
        let memory = MemoryResponseStore()
        let below = DataResponseStore(data as any MeasurableDataCache)
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

    /// RFC 9111 section 4.4: an invalidated response is not used, whatever happens to its file.
    @Test func `an entry that the lower tier fails to remove is no longer found`() async {
        let files = ReadOnlyCache(data)
        let store = DataResponseStore(files as any MeasurableDataCache)
        let keys = [key("a"), key("a", "v"), key("b"), key("c")]
        for key in keys { await store.store(.response(response()), for: key) }
        files.isReadOnly.update { $0 = true }
        #expect(await store.entry(for: key("a")) != nil)

        await store.removeAll(of: ResourceKey("a"))
        await store.remove(key("b"))

        for key in keys { #expect(await (store.entry(for: key) != nil) == (key == keys[3])) }
        // The same for an entry that cannot be replaced.
        await store.store(.response(response(at: 1)), for: key("c"))
        #expect(await store.entry(for: key("c")) == nil)

        files.isReadOnly.update { $0 = false }
        await store.store(.response(response(at: 2)), for: key("a", "v"))
        #expect(await store.entry(for: key("a", "v")) == .response(response(at: 2)))
        #expect(await store.entry(for: key("a")) == nil)
        await store.remove(key("b"))
        await store.store(.response(response(at: 2)), for: key("b"))
        #expect(await store.entry(for: key("b")) != nil)
    }

    @Test func `after more failed removals than the limit no stored entry is found`() async {
        for removesAll in [true, false] {
            let files = ReadOnlyCache(DataMemoryCache(sizeLimit: 16 << 20))
            let store = DataResponseStore(files as any MeasurableDataCache)
            for number in 0...1_001 { await store.store(.response(response()), for: key("\(number)")) }
            files.isReadOnly.update { $0 = true }
            if removesAll { await store.removeAll() }
            for number in 0...1_000 where !removesAll { await store.remove(key("\(number)")) }

            for number in [0, 1_000, 1_001] { #expect(await store.entry(for: key("\(number)")) == nil) }

            files.isReadOnly.update { $0 = false }
            await store.removeAll()
            await store.store(.response(response()), for: key("0"))
            #expect(await store.entry(for: key("0")) != nil)
        }
    }
}
