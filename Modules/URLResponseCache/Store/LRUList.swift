/// Entries in the order of their last use: a dictionary into an array of nodes that link to one another by index, so
/// that a use allocates nothing. All operations are O(1).
struct LRUList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    struct Node: Sendable {
        var key: Key
        /// nil while the node is free.
        var value: Value?
        var cost: Int
        /// Towards the most recently used.
        var newer: Int
        /// Towards the least recently used; links free nodes too.
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
    // Indices into `nodes`; -1 is none.
    var newest = -1
    var oldest = -1
    var firstFree = -1
    /// Sum of the costs of all entries.
    var totalCost = 0

    init() {}

    /// Returns the value and makes it the most recently used.
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

    /// Removes the least recently used until the rest is within the limit, and hands over what went.
    mutating func trim(toCost cost: Int, into released: inout [(key: Key, value: Value)]) {
        while oldest >= 0, totalCost > cost {
            let key = nodes[oldest].key
            slots[key] = nil
            if let value = free(oldest) { released.append((key, value)) }
        }
    }

    /// The entries, in no order. Not a use of them.
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
