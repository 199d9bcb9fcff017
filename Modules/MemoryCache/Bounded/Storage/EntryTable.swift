/// The entries of a memory cache: where they are, what they cost, and how they are found. Every operation is O(1),
/// amortised where memory grows.
@usableFromInline
struct EntryTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var entries = StableBuffer<CacheEntry<Key, Value>>()
    @usableFromInline var index = HashIndex()
    /// nil when keys have no groups.
    @usableFromInline var groups: GroupIndex?
    @usableFromInline var slots = SlotSet()
    @usableFromInline var totalCost = 0
    /// How many entries have a deadline.
    @usableFromInline var mortalCount = 0
    /// The priorities of slots other than normal.
    @usableFromInline var priorities: [Int: PurgePriority] = [:]

    @inlinable
    init(hasGroups: Bool) {
        groups = hasGroups ? GroupIndex() : nil
        assert(MemoryLayout<CacheEntry<Key, Value>>.offset(of: \.life.deadline) == 0)
    }

    @inlinable var count: Int { slots.count }

    @inlinable @inline(__always)
    func slot(of key: Key, hash: Int) -> Int? {
        index.slot(hash) { slot in
            guard entries[slot].hash == hash, let stored = entries[slot].key else { return false }
            return stored == key
        }
    }

    /// Adds an entry under a key that is not there. Returns its slot.
    @inlinable
    mutating func insert(
        _ value: Value, for key: Key, hash: Int, groupHash: Int, cost: Int, life: EntryLife
    ) -> Int {
        let slot = slots.take()
        if slot == entries.count { entries.append(CacheEntry()) }
        entries[slot].key = key
        entries[slot].value = value
        entries[slot].hash = hash
        entries[slot].cost = cost
        entries[slot].groupHash = groupHash
        setLife(life, of: slot)
        index.insert(slot, hash: hash) { [entries] in entries[$0].hash }
        groups?.insert(slot, into: entries)
        totalCost += cost
        return slot
    }

    /// Puts another value of the same cost in the place of one. Returns the old one.
    @inlinable
    mutating func replace(_ slot: Int, with value: Value, life: EntryLife) -> Value? {
        setLife(life, of: slot)
        let old = entries[slot].value.take()
        entries[slot].value = value
        return old
    }

    /// Frees a slot and hands over what it held.
    @inlinable
    mutating func remove(_ slot: Int, reason: EvictionReason) -> MemoryCacheEviction<Key, Value>? {
        index.remove(slot, hash: entries[slot].hash) { [entries] in entries[$0].hash }
        groups?.remove(slot, from: entries)
        setLife(EntryLife(), of: slot)
        setPriority(.normal, of: slot)
        totalCost -= entries[slot].cost
        slots.free(slot)
        guard let key = entries[slot].key.take(), let value = entries[slot].value.take() else { return nil }
        return MemoryCacheEviction(key: key, value: value, cost: entries[slot].cost, reason: reason)
    }

    @inlinable
    func isExpired(_ slot: Int, at now: Int64) -> Bool { entries[slot].life.isOver(at: now) }

    /// The slots of a group's entries, and of those of another group that has the same hash. O(their number).
    @inlinable
    func slots(ofGroup hash: Int) -> [Int] {
        var slots: [Int] = []
        var next = groups?.first(hash, in: entries)
        while let slot = next {
            slots.append(slot)
            let following = entries[slot].nextInGroup
            next = following < 0 ? nil : Int(following)
        }
        return slots
    }

    @inlinable
    mutating func setPriority(_ priority: PurgePriority, of slot: Int) {
        guard priority != .normal || !priorities.isEmpty else { return }
        priorities[slot] = priority == .normal ? nil : priority
    }

    @inlinable
    mutating func setLife(_ life: EntryLife, of slot: Int) {
        mortalCount += (life.isMortal ? 1 : 0) - (entries[slot].life.isMortal ? 1 : 0)
        entries[slot].life = life
    }
}
