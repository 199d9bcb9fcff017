/// All that a cache held, taken out whole with the memory for it, to be reported and released outside the lock.
@usableFromInline
struct RetiredEntries<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let table: EntryTable<Key, Value>
    @usableFromInline let reason: EvictionReason
    /// Held for their memory only.
    @usableFromInline let policy: any EvictionPolicy
    @usableFromInline let marks: UseMarks
    @usableFromInline let weak: WeakLevel<Key, Value>?

    @inlinable
    init(
        table: EntryTable<Key, Value>, reason: EvictionReason, policy: any EvictionPolicy, marks: UseMarks,
        weak: WeakLevel<Key, Value>?
    ) {
        (self.table, self.reason, self.policy, self.marks, self.weak) = (table, reason, policy, marks, weak)
    }

    /// Calls `body` for each entry, in no order.
    @inlinable
    func forEach(_ body: (MemoryCacheEviction<Key, Value>) -> Void) {
        for place in 0..<table.slots.count {
            let slot = table.slots[place]
            guard let key = table.entries[slot].key, let value = table.entries[slot].value else { continue }
            body(MemoryCacheEviction(key: key, value: value, cost: table.entries[slot].cost, reason: reason))
        }
    }
}
