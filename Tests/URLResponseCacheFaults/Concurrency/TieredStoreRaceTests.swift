import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

/// Changes of an entry while it is promoted from the large store to the fast one.
@Suite(.timeLimit(.minutes(10)))
struct TieredStoreRaceTests {
    enum Change: CaseIterable, Sendable {
        case remove, removeOfResource, removeSince, removeAll, store

        var call: FailingStore.Call {
            switch self {
            case .remove: .remove
            case .store: .store
            default: .removeAll
            }
        }
    }

    private let fast = MemoryResponseStore()
    private let large = FailingStore()
    private let key = ImageKey(ResourceKey(normal: .page()))

    private static func entry(_ body: String) -> ResponseEntry {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        return .response(
            StoredResponse(
                head: HTTPResponseHead(url: .page(), status: 200), body: Data(body.utf8), requestTime: now,
                responseTime: now, terms: Freshness(date: now)))
    }

    private func make(_ change: Change, in store: TieredResponseStore) async {
        switch change {
        case .remove: await store.remove(key)
        case .removeOfResource: await store.removeAll(of: key.resource)
        case .removeSince: await store.removeAll(storedSince: .distantPast)
        case .removeAll: await store.removeAll()
        case .store: await store.store(Self.entry("new"), for: key)
        }
    }

    private func expected(after change: Change) -> ResponseEntry? { change == .store ? Self.entry("new") : nil }

    @Test(arguments: Change.allCases)
    func `a read does not undo a change that happens meanwhile`(change: Change) async {
        let store = TieredResponseStore(fast, over: large)
        await large.store(Self.entry("old"), for: key)
        let gate = large.stopAfter(.entry)
        let reader = Task { await store.entry(for: key) }
        await gate.arrivals()

        await make(change, in: store)
        gate.open()
        _ = await reader.value

        #expect(await store.entry(for: key) == expected(after: change))
    }

    @Test(arguments: Change.allCases)
    func `a read during a change does not store the old entry`(change: Change) async {
        let store = TieredResponseStore(fast, over: large)
        await large.store(Self.entry("old"), for: key)
        let gate = large.stop(change.call)
        let writer = Task { await make(change, in: store) }
        await gate.arrivals()

        // The large store still has the old entry.
        _ = await store.entry(for: key)
        gate.open()
        await writer.value

        #expect(await store.entry(for: key) == expected(after: change))
    }

    @Test(arguments: Change.allCases)
    func `a reader that outlives a concurrent change leaves nothing behind`(change: Change) async {
        let store = TieredResponseStore(fast, over: large)
        await large.store(Self.entry("old"), for: key)
        let (stopped, slow) = (large.stop(change.call), large.stopAfter(.entry))
        let writer = Task { await make(change, in: store) }
        await stopped.arrivals()
        let reader = Task { await store.entry(for: key) }
        await slow.arrivals()

        stopped.open()
        await writer.value
        slow.open()
        _ = await reader.value

        #expect(await store.entry(for: key) == expected(after: change))
    }

    @Test func `many readers, writers and removers end with the last written entry`() async {
        let store = TieredResponseStore(fast, over: large)
        await withTaskGroup { group in
            for index in 0..<200 {
                group.addTask {
                    switch index % 4 {
                    case 0: await store.store(Self.entry("\(index)"), for: key)
                    case 1: await store.remove(key)
                    default: _ = await store.entry(for: key)
                    }
                }
            }
        }
        await store.store(Self.entry("last"), for: key)
        #expect(await store.entry(for: key) == Self.entry("last"))
        await store.removeAll()
        #expect(await store.entry(for: key) == nil)
        #expect(fast.totalSize == 0)
    }
}
