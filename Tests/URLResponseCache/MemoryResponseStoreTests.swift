import AlcedoCore
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(3)))
struct MemoryResponseStoreTests {
    /// Room for two answers of 1,000 bytes, not for three.
    private let store = MemoryResponseStore(byteLimit: 3_500)

    @Test func `answers come back under their URL`() async {
        await store.replace([response(1_000), response(10)], for: url(1))

        #expect(await store.responses(for: url(1)) == [response(1_000), response(10)])
        #expect(await store.responses(for: url(2)) == [])
    }

    @Test func `an empty list removes`() async {
        await store.replace([response(10)], for: url(1))

        await store.replace([], for: url(1))

        #expect(await store.responses(for: url(1)) == [])
        #expect(store.totalSize == 0)
    }

    @Test func `the least recently used go beyond the limit`() async {
        await store.replace([response(1_000)], for: url(1))
        await store.replace([response(1_000)], for: url(2))
        _ = await store.responses(for: url(1))

        await store.replace([response(1_000)], for: url(3))

        #expect(await store.responses(for: url(2)) == [])
        #expect(await store.responses(for: url(1)).count == 1)
        #expect(await store.responses(for: url(3)).count == 1)
        #expect(store.totalSize <= 3_500)
    }

    @Test func `what exceeds the limit is not stored and evicts nothing else`() async {
        await store.replace([response(10)], for: url(1))
        await store.replace([response(10)], for: url(2))

        await store.replace([response(4_000)], for: url(2))

        #expect(await store.responses(for: url(1)).count == 1)
        #expect(await store.responses(for: url(2)) == [])
    }

    @Test func `removing everything leaves nothing`() async {
        for index in 0..<3 { await store.replace([response(10)], for: url(index)) }

        await store.removeAll()

        #expect(store.totalSize == 0)
        for index in 0..<3 { #expect(await store.responses(for: url(index)) == []) }
    }

    @Test func `any order of uses keeps to a plain model`() async {
        var random = SystemRandomNumberGenerator()
        var model: [Int] = []
        await store.replace([response(500)], for: url(0))
        let size = store.totalSize
        let few = MemoryResponseStore(byteLimit: size * 4)
        for _ in 0..<2_000 {
            let index = Int.random(in: 0..<8, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let isThere = await !few.responses(for: url(index)).isEmpty
                #expect(isThere == model.contains(index))
                if isThere { model = model.filter { $0 != index } + [index] }
            case 1:
                await few.replace([], for: url(index))
                model.removeAll { $0 == index }
            default:
                await few.replace([response(500)], for: url(index))
                model = (model.filter { $0 != index } + [index]).suffix(4)
            }
            #expect(few.totalSize == model.count * size)
        }
    }

    private func url(_ index: Int) -> URL { Bench.url.appending(path: "\(index)") }

    private func response(_ count: Int) -> StoredResponse {
        StoredResponse(
            head: HTTPResponseHead(url: Bench.url, status: 200, fields: ["X": "1"]), body: Data(count: count),
            varyingFields: [:], requestTime: ManualClock.start, responseTime: ManualClock.start)
    }
}
