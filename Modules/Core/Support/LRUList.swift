/// Entries in the order of their last use: a dictionary into an array of nodes that link to one another by index, so
/// that a use allocates nothing. All operations are O(1).
///
/// Inlinable, because a memory cache's hit is a few tens of nanoseconds and would double them without specialisation.
@usableFromInline
package struct LRUList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    package struct Node: Sendable {
        @usableFromInline var key: Key
        /// nil while the node is free.
        @usableFromInline var value: Value?
        @usableFromInline var cost: Int
        /// Towards the most recently used.
        @usableFromInline var newer: Int
        /// Towards the least recently used; links free nodes too.
        @usableFromInline var older: Int

        @inlinable
        init(key: Key, value: Value, cost: Int, newer: Int, older: Int) {
            self.key = key
            self.value = value
            self.cost = cost
            self.newer = newer
            self.older = older
        }
    }

    @usableFromInline var nodes: [Node] = []
    @usableFromInline var slots: [Key: Int] = [:]
    // Indices into `nodes`; -1 is none.
    @usableFromInline var newest = -1
    @usableFromInline var oldest = -1
    @usableFromInline var firstFree = -1
    /// Sum of the costs of all entries.
    @usableFromInline package var totalCost = 0

    @inlinable package init() {}

    @inlinable package var count: Int { slots.count }

    /// Returns the value and makes it the most recently used.
    @inlinable
    package mutating func use(_ key: Key) -> Value? {
        guard let slot = slots[key] else { return nil }
        if slot != newest {
            unlink(slot)
            linkAsNewest(slot)
        }
        return nodes[slot].value
    }

    /// Adds a value as the most recently used. `key` must not be in the list.
    @inlinable
    package mutating func insert(_ value: Value, for key: Key, cost: Int) {
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

    @inlinable
    package mutating func remove(_ key: Key) -> Value? {
        guard let slot = slots.removeValue(forKey: key) else { return nil }
        return free(slot)
    }

    /// Removes the least recently used until the rest is within both limits, and hands over what went.
    @inlinable
    package mutating func trim(toCost cost: Int, count: Int = Int.max, into released: inout [Value]) {
        while oldest >= 0, totalCost > cost || slots.count > count {
            slots[nodes[oldest].key] = nil
            if let value = free(oldest) { released.append(value) }
        }
    }

    @inlinable
    mutating func free(_ slot: Int) -> Value? {
        unlink(slot)
        totalCost -= nodes[slot].cost
        nodes[slot].older = firstFree
        firstFree = slot
        return nodes[slot].value.take()
    }

    @inlinable
    mutating func unlink(_ slot: Int) {
        let (newer, older) = (nodes[slot].newer, nodes[slot].older)
        if newer < 0 { newest = older } else { nodes[newer].older = older }
        if older < 0 { oldest = newer } else { nodes[older].newer = newer }
    }

    @inlinable
    mutating func linkAsNewest(_ slot: Int) {
        nodes[slot].newer = -1
        nodes[slot].older = newest
        if newest < 0 { oldest = slot } else { nodes[newest].newer = slot }
        newest = slot
    }
}
