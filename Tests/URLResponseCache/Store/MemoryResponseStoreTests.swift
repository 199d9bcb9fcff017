import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MemoryResponseStoreTests {
    /// Space for two responses of 1,000 bytes, not for three.
    private let store = MemoryResponseStore(byteLimit: 4_000)

    @Test func `entries are found under their key and no other`() async {
        await store.store(entry(10), for: key(1))
        await store.store(entry(11), for: key(1, "a"))

        #expect(await store.entry(for: key(1)) == entry(10))
        #expect(await store.entry(for: key(1, "a")) == entry(11))
        #expect(await store.entry(for: key(1, "b")) == nil)
        #expect(await store.entry(for: key(2)) == nil)
    }

    @Test func `an entry replaces the previous one`() async {
        await store.store(entry(10), for: key(1))
        let size = store.totalSize
        await store.store(entry(20), for: key(1))

        #expect(await store.entry(for: key(1)) == entry(20))
        #expect(store.totalSize == size + 10)
        await store.remove(key(1))
        #expect(store.totalSize == 0)
    }

    @Test func `the least recently used entries are evicted beyond the limit`() async {
        for index in 1...2 { await store.store(entry(1_000), for: key(index)) }
        _ = await store.entry(for: key(1))

        await store.store(entry(1_000), for: key(3))

        #expect(await store.entry(for: key(2)) == nil)
        #expect(await store.entry(for: key(1)) != nil)
        #expect(await store.entry(for: key(3)) != nil)
        #expect(store.totalSize <= 4_000)
    }

    @Test func `an oversized entry is not stored, evicts no other and removes the one under its key`() async {
        for index in 1...2 { await store.store(entry(10), for: key(index)) }

        await store.store(entry(5_000), for: key(2))

        #expect(await store.entry(for: key(1)) != nil)
        #expect(await store.entry(for: key(2)) == nil)
    }

    @Test func `an entry that is not allowed removes the one under its key`() async {
        await store.store(entry(10), for: key(1))
        await store.store(entry(10, policy: .notAllowed), for: key(1))
        #expect(await store.entry(for: key(1)) == nil)

        await store.store(entry(10, policy: .allowedInMemoryOnly), for: key(1))
        #expect(await store.entry(for: key(1)) != nil)
    }

    @Test func `removing a resource removes all its variants and no others`() async {
        for variant in ["", "a", "b"] {
            await store.store(entry(10), for: key(1, variant))
            await store.store(entry(10), for: key(2, variant))
        }

        await store.removeAll(of: key(1).resource)

        for variant in ["", "a", "b"] {
            #expect(await store.entry(for: key(1, variant)) == nil)
            #expect(await store.entry(for: key(2, variant)) != nil)
        }
    }

    @Test func `removal since a date includes that date`() async {
        for second in 0..<3 { await store.store(entry(10, at: Double(second)), for: key(second)) }

        await store.removeAll(storedSince: start + 1)

        #expect(await store.entry(for: key(0)) != nil)
        for second in 1..<3 { #expect(await store.entry(for: key(second)) == nil) }
    }

    @Test func `removing everything leaves nothing`() async {
        for index in 0..<3 { await store.store(entry(10), for: key(index, "v")) }

        await store.removeAll()

        #expect(store.totalSize == 0)
        for index in 0..<3 { #expect(await store.entry(for: key(index, "v")) == nil) }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `any sequence of calls matches a reference model`(seed: UInt64) async {
        var random = SeededGenerator(seed: seed)
        var model: [Int] = []
        await store.store(entry(500), for: key(0))
        let size = store.totalSize
        let few = MemoryResponseStore(byteLimit: size * 4)
        for _ in 0..<2_000 {
            let index = Int.random(in: 0..<8, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let isThere = await few.entry(for: key(index)) != nil
                #expect(isThere == model.contains(index))
                if isThere { model = model.filter { $0 != index } + [index] }
            case 1:
                await few.remove(key(index))
                model.removeAll { $0 == index }
            default:
                await few.store(entry(500), for: key(index))
                model = (model.filter { $0 != index } + [index]).suffix(4)
            }
            #expect(few.totalSize == model.count * size)
        }
    }

    private func key(_ index: Int, _ variant: String = "") -> ImageKey {
        ImageKey(ResourceKey("http://example.test/\(index)"), variant: variant)
    }

    private func entry(
        _ count: Int, policy: ResponseStoragePolicy = .allowed, at seconds: TimeInterval = 0
    ) -> ResponseEntry {
        .response(
            StoredResponse(
                head: HTTPResponseHead(url: Bench.url, status: 200, fields: ["X": "1"]), body: Data(count: count),
                requestTime: start + seconds, responseTime: start + seconds,
                terms: Freshness(date: start + seconds), storagePolicy: policy))
    }
}
