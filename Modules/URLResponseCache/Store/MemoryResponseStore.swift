public import AlcedoCore
public import FoundationEssentials

/// Keeps HTTP answers in memory, the most recently used ones within a number of bytes.
public final class MemoryResponseStore: ResponseStoring {
    private struct State {
        var list = LRUList<ImageKey, ResponseEntry>()
        /// The keys of the variants of a resource that are in the list.
        var variants: [ResourceKey: Set<ImageKey>] = [:]

        mutating func remove(_ key: ImageKey) -> ResponseEntry? {
            forget(key)
            return list.remove(key)
        }

        mutating func forget(_ key: ImageKey) {
            guard !key.variant.isEmpty else { return }
            variants[key.resource]?.remove(key)
            if variants[key.resource]?.isEmpty == true { variants[key.resource] = nil }
        }
    }

    /// Most bytes of all answers, heads included.
    public let byteLimit: Int

    private let state = Locked(State())

    /// - Parameter byteLimit: Default: 20 MiB. With 0 or less nothing is kept.
    public init(byteLimit: Int = 20 << 20) { self.byteLimit = max(0, byteLimit) }

    /// O(1).
    public func entry(for key: ImageKey) async -> ResponseEntry? { state.withLock { $0.list.use(key) } }

    /// Stores an entry, and removes the least recently used ones beyond the limit. O(1) amortised.
    ///
    /// An entry that exceeds the whole limit is not stored and evicts nothing else; what stood there goes.
    public func store(_ entry: ResponseEntry, for key: ImageKey) async {
        let cost = entry.cost
        let isTaken = cost <= byteLimit && entry.storagePolicy != .notAllowed
        // Let go outside the lock.
        let released = state.withLock { state -> [(key: ImageKey, value: ResponseEntry)] in
            var released = state.remove(key).map { [(key: key, value: $0)] } ?? []
            guard isTaken else { return released }
            state.list.trim(toCost: byteLimit - cost, into: &released)
            for (gone, _) in released where gone != key { state.forget(gone) }
            state.list.insert(entry, for: key, cost: cost)
            if !key.variant.isEmpty { state.variants[key.resource, default: []].insert(key) }
            return released
        }
        _ = consume released
    }

    public func remove(_ key: ImageKey) async {
        let released = state.withLock { $0.remove(key) }
        _ = consume released
    }

    /// O(variants of the resource).
    public func removeAll(of resource: ResourceKey) async {
        let released = state.withLock { state in
            let keys = [ImageKey(resource)] + (state.variants[resource] ?? [])
            return keys.map { state.remove($0) }
        }
        _ = consume released
    }

    /// O(entries).
    public func removeAll(storedSince date: Date) async {
        let released = state.withLock { state in
            state.list.entries.filter { $0.value.isStored(since: date) }.map { state.remove($0.key) }
        }
        _ = consume released
    }

    public func removeAll() async {
        let released = state.withLock { state in
            defer { state = State() }
            return state
        }
        _ = consume released
    }

    /// Bytes of all answers, heads included.
    public var totalSize: Int { state.withLock { $0.list.totalCost } }
}
