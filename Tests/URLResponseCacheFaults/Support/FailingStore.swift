import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport

@testable import AlcedoURLResponseCache

/// A store that a test can block before or after a call's work.
final class FailingStore: ResponseStoring {
    enum Call: Hashable, Sendable { case entry, store, remove, removeAll }

    let inner: any ResponseStoring
    private let gates = Watched<[Call: Gate]>([:])
    private let late = Watched<[Call: Gate]>([:])
    private let losesAll = Watched(false)
    private let stored = Watched<[ImageKey]>([])

    init(_ inner: any ResponseStoring = MemoryResponseStore()) { self.inner = inner }

    /// The keys that entries were stored under, in order.
    var storedKeys: [ImageKey] { stored.value }

    /// Blocks the next call of a kind before its work.
    func stop(_ call: Call) -> Gate {
        let gate = Gate()
        gates.update { $0[call] = gate }
        return gate
    }

    /// Blocks the next call of a kind after its work, before it returns.
    func stopAfter(_ call: Call) -> Gate {
        let gate = Gate()
        late.update { $0[call] = gate }
        return gate
    }

    /// Finds and stores nothing from now on, like a failed disk.
    func lose() { losesAll.update { $0 = true } }

    private func around<Result: Sendable>(_ call: Call, _ work: () async -> Result) async -> Result {
        if let gate = gates.update({ $0.removeValue(forKey: call) }) { await gate.pass() }
        let gate = late.update { $0.removeValue(forKey: call) }
        let result = await work()
        if let gate { await gate.pass() }
        return result
    }

    func entry(for key: ImageKey) async -> ResponseEntry? {
        await around(.entry) { losesAll.value ? nil : await inner.entry(for: key) }
    }

    func store(_ entry: ResponseEntry, for key: ImageKey) async {
        stored.update { $0.append(key) }
        await around(.store) { if !losesAll.value { await inner.store(entry, for: key) } }
    }

    func remove(_ key: ImageKey) async { await around(.remove) { await inner.remove(key) } }

    func removeAll(of resource: ResourceKey) async {
        await around(.removeAll) { await inner.removeAll(of: resource) }
    }

    func removeAll(storedSince date: Date) async {
        await around(.removeAll) { await inner.removeAll(storedSince: date) }
    }

    func removeAll() async { await around(.removeAll) { await inner.removeAll() } }

    func flush() async { await inner.flush() }
}
