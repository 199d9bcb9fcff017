package import AlcedoCore
package import AlcedoHTTP
import AlcedoRuntime
package import FoundationEssentials

/// A store of HTTP responses in memory that keeps the most recently used ones, up to a number of bytes.
package final class MemoryResponseStore: ResponseStoring {
    private struct State {
        var list = LRUList<ImageKey, ResponseEntry>()
        /// The keys of each resource's variants in the list.
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

    /// The maximum number of bytes of all entries, heads included.
    package let byteLimit: Int

    private let state = Locked(State())

    /// Creates an empty store.
    ///
    /// - Parameter byteLimit: The maximum number of bytes. With 0 or less, the store keeps nothing. Default: 20 MiB.
    package init(byteLimit: Int = 20 << 20) { self.byteLimit = max(0, byteLimit) }

    /// Returns an entry and makes it the most recently used. Returns nil if the key has none. O(1).
    package func entry(for key: ImageKey) async -> ResponseEntry? { state.withLock { $0.list.use(key) } }

    /// Stores an entry, and removes the least recently used ones beyond the limit. O(1) amortized.
    ///
    /// An entry that exceeds the whole limit, or whose policy is `notAllowed`, is not stored and evicts no other entry,
    /// but an entry under its key is removed.
    package func store(_ entry: ResponseEntry, for key: ImageKey) async {
        let cost = entry.cost
        let isAccepted = cost <= byteLimit && entry.storagePolicy != .notAllowed
        // The removed entries are released outside the lock.
        let released = state.withLock { state -> [(key: ImageKey, value: ResponseEntry)] in
            var released = state.remove(key).map { [(key: key, value: $0)] } ?? []
            guard isAccepted else { return released }
            state.list.trim(toCost: byteLimit - cost, into: &released)
            for (releasedKey, _) in released where releasedKey != key { state.forget(releasedKey) }
            state.list.insert(entry, for: key, cost: cost)
            if !key.variant.isEmpty { state.variants[key.resource, default: []].insert(key) }
            return released
        }
        _ = consume released
    }

    package func remove(_ key: ImageKey) async {
        let released = state.withLock { $0.remove(key) }
        _ = consume released
    }

    /// Removes all entries of a resource. O(variants of the resource).
    package func removeAll(of resource: ResourceKey) async {
        let released = state.withLock { state in
            let keys = [ImageKey(resource)] + (state.variants[resource] ?? [])
            return keys.map { state.remove($0) }
        }
        _ = consume released
    }

    /// Removes the responses that arrived at `date` or later. O(entries).
    package func removeAll(storedSince date: Date) async {
        let released = state.withLock { state in
            state.list.entries.filter { $0.value.isStored(since: date) }.map { state.remove($0.key) }
        }
        _ = consume released
    }

    package func removeAll() async {
        let released = state.withLock { state in
            defer { state = State() }
            return state
        }
        _ = consume released
    }

    /// The number of bytes of all entries, heads included.
    package var totalSize: Int { state.withLock { $0.list.totalCost } }
}

extension ResponseEntry {
    /// The approximate number of bytes that the entry takes in memory.
    var cost: Int {
        // The fixed size of the values and of the list's links, in addition to the bytes of bodies and fields.
        let overhead = 640
        switch self {
        case .response(let response):
            let fields = response.head.fields.fields + response.varyingFields.fields
            let userInfo = response.userInfo.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 64 }
            return fields.reduce(response.body.count + overhead + userInfo) {
                $0 + $1.name.utf8.count + $1.value.utf8.count + 64
            }
        case .variants(let variants):
            let names = variants.nameLists.joined().reduce(0) { $0 + $1.utf8.count + 32 }
            return variants.tagged.reduce(overhead + names) {
                $0 + $1.variant.utf8.count + $1.entityTag.utf8.count + 64
            }
        }
    }

    var storagePolicy: ResponseStoragePolicy {
        if case .response(let response) = self { response.storagePolicy } else { .allowed }
    }

    /// Whether this is a response that arrived at `date` or later.
    func isStored(since date: Date) -> Bool {
        if case .response(let response) = self { response.responseTime >= date } else { false }
    }
}

/// A list of entries in the order of their last use: a dictionary of indices into an array of nodes. The nodes are
/// linked by index, so that a use allocates no memory. All operations are O(1), except `entries`, and `trim`, which is
/// O(removed entries).
private struct LRUList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    struct Node: Sendable {
        var key: Key
        /// The value; nil while the node is free.
        var value: Value?
        var cost: Int
        /// The index of the next more recently used node.
        var newer: Int
        /// The index of the next less recently used node, or of the next free node.
        var older: Int

        init(key: Key, value: Value, cost: Int, newer: Int, older: Int) {
            self.key = key
            self.value = value
            self.cost = cost
            self.newer = newer
            self.older = older
        }
    }

    var nodes: [Node] = []
    var slots: [Key: Int] = [:]
    // Indices into `nodes`; -1 for none.
    var newest = -1
    var oldest = -1
    var firstFree = -1
    /// The sum of the costs of all entries.
    var totalCost = 0

    init() {}

    /// Returns the value of a key and makes it the most recently used.
    mutating func use(_ key: Key) -> Value? {
        guard let slot = slots[key] else { return nil }
        if slot != newest {
            unlink(slot)
            linkAsNewest(slot)
        }
        return nodes[slot].value
    }

    /// Adds a value as the most recently used. `key` must not be in the list.
    mutating func insert(_ value: Value, for key: Key, cost: Int) {
        let node = Node(key: key, value: value, cost: cost, newer: -1, older: -1)
        let slot: Int
        if firstFree >= 0 {
            slot = firstFree
            firstFree = nodes[slot].older
            nodes[slot] = node
        } else {
            slot = nodes.count
            nodes.append(node)
        }
        slots[key] = slot
        totalCost += cost
        linkAsNewest(slot)
    }

    mutating func remove(_ key: Key) -> Value? {
        guard let slot = slots.removeValue(forKey: key) else { return nil }
        return free(slot)
    }

    /// Removes the least recently used entries until the total cost is within the limit, and appends them to
    /// `released`.
    mutating func trim(toCost cost: Int, into released: inout [(key: Key, value: Value)]) {
        while oldest >= 0, totalCost > cost {
            let key = nodes[oldest].key
            slots[key] = nil
            if let value = free(oldest) { released.append((key, value)) }
        }
    }

    /// The entries in no particular order. Does not count as a use. O(entries).
    var entries: [(key: Key, value: Value)] {
        slots.compactMap { key, slot in nodes[slot].value.map { (key, $0) } }
    }

    mutating func free(_ slot: Int) -> Value? {
        unlink(slot)
        totalCost -= nodes[slot].cost
        nodes[slot].older = firstFree
        firstFree = slot
        return nodes[slot].value.take()
    }

    mutating func unlink(_ slot: Int) {
        let (newer, older) = (nodes[slot].newer, nodes[slot].older)
        if newer < 0 { newest = older } else { nodes[newer].older = older }
        if older < 0 { oldest = newer } else { nodes[older].newer = newer }
    }

    mutating func linkAsNewest(_ slot: Int) {
        nodes[slot].newer = -1
        nodes[slot].older = newest
        if newest < 0 { oldest = slot } else { nodes[newest].newer = slot }
        newest = slot
    }
}
