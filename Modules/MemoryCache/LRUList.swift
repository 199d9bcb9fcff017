/// Entries in order of their last use: a dictionary into an array of nodes that link to one another by index, so that
/// a use allocates nothing.
struct LRUList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Node: Sendable {
        var key: Key
        /// nil while the node is free.
        var value: Value?
        var cost: Int
        /// Towards the most recently used.
        var newer: Int
        /// Towards the least recently used; links free nodes too.
        var older: Int
    }

    private static var none: Int { -1 }

    private var nodes: [Node] = []
    private var slots: [Key: Int] = [:]
    private var newest = Self.none
    private var oldest = Self.none
    private var firstFree = Self.none
    private(set) var totalCost = 0

    var count: Int { slots.count }

    /// Returns the value and moves it to the front.
    mutating func use(_ key: Key) -> Value? {
        guard let slot = slots[key] else { return nil }
        if slot != newest {
            unlink(slot)
            linkAsNewest(slot)
        }
        return nodes[slot].value
    }

    /// Adds a value at the front. `key` must not be in the list.
    mutating func insert(_ value: Value, for key: Key, cost: Int) {
        let node = Node(key: key, value: value, cost: cost, newer: Self.none, older: Self.none)
        let slot: Int
        if firstFree != Self.none {
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

    /// Removes from the back until the rest is within both limits.
    mutating func trim(toCost cost: Int, count: Int, into released: inout [Value]) {
        while oldest != Self.none, totalCost > cost || slots.count > count {
            slots[nodes[oldest].key] = nil
            if let value = free(oldest) { released.append(value) }
        }
    }

    private mutating func free(_ slot: Int) -> Value? {
        unlink(slot)
        totalCost -= nodes[slot].cost
        nodes[slot].older = firstFree
        firstFree = slot
        return nodes[slot].value.take()
    }

    private mutating func unlink(_ slot: Int) {
        let (newer, older) = (nodes[slot].newer, nodes[slot].older)
        if newer == Self.none { newest = older } else { nodes[newer].older = older }
        if older == Self.none { oldest = newer } else { nodes[older].newer = newer }
    }

    private mutating func linkAsNewest(_ slot: Int) {
        nodes[slot].newer = Self.none
        nodes[slot].older = newest
        if newest == Self.none { oldest = slot } else { nodes[newest].newer = slot }
        newest = slot
    }
}
