public import AlcedoCore

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
    @usableFromInline var expiringCount = 0
    /// The priorities of slots other than normal.
    @usableFromInline var priorities: [Int: PurgePriority] = [:]

    @inlinable
    init(hasGroups: Bool) {
        groups = hasGroups ? GroupIndex() : nil
        assert(MemoryLayout<CacheEntry<Key, Value>>.offset(of: \.expiration.deadline) == 0)
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
        _ value: Value, for key: Key, hash: Int, groupHash: Int, cost: Int, expiration: EntryExpiration
    ) -> Int {
        let slot = slots.take()
        if slot == entries.count { entries.append(CacheEntry()) }
        entries[slot].key = key
        entries[slot].value = value
        entries[slot].hash = hash
        entries[slot].cost = cost
        entries[slot].groupHash = groupHash
        setExpiration(expiration, of: slot)
        index.insert(slot, hash: hash) { [entries] in entries[$0].hash }
        groups?.insert(slot, into: entries)
        totalCost += cost
        return slot
    }

    /// Puts another value of the same cost in the place of one. Returns the old one.
    @inlinable
    mutating func replace(_ slot: Int, with value: Value, expiration: EntryExpiration) -> Value? {
        setExpiration(expiration, of: slot)
        let old = entries[slot].value.take()
        entries[slot].value = value
        return old
    }

    /// Frees a slot and hands over what it held.
    @inlinable
    mutating func remove(_ slot: Int, reason: EvictionReason) -> RemovedEntry<Key, Value>? {
        index.remove(slot, hash: entries[slot].hash) { [entries] in entries[$0].hash }
        groups?.remove(slot, from: entries)
        setExpiration(EntryExpiration(), of: slot)
        setPriority(.normal, of: slot)
        totalCost -= entries[slot].cost
        slots.free(slot)
        guard let key = entries[slot].key.take(), let value = entries[slot].value.take() else { return nil }
        return RemovedEntry(key: key, value: value, cost: entries[slot].cost, reason: reason)
    }

    @inlinable
    func isExpired(_ slot: Int, at now: Int64) -> Bool { entries[slot].expiration.isExpired(at: now) }

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
    mutating func setExpiration(_ expiration: EntryExpiration, of slot: Int) {
        expiringCount += (expiration.expires ? 1 : 0) - (entries[slot].expiration.expires ? 1 : 0)
        entries[slot].expiration = expiration
    }
}

/// One entry of a memory cache, or a free place for one.
@usableFromInline
struct CacheEntry<Key: Sendable, Value: Sendable>: Sendable {
    /// The first, so that its deadline is where the entry begins: see ``EntryLookup/atomicDeadline(of:)``.
    @usableFromInline var expiration = EntryExpiration()
    /// nil while the place is free, as is the value.
    @usableFromInline var key: Key?
    @usableFromInline var value: Value?
    @usableFromInline var hash = 0
    @usableFromInline var cost = 0
    @usableFromInline var groupHash = 0
    /// Neighbours in the list of the group; -1 for none.
    @usableFromInline var nextInGroup: Int32 = -1
    @usableFromInline var previousInGroup: Int32 = -1

    @inlinable
    init() {}
}

/// An entry that has left a memory cache.
@usableFromInline
struct RemovedEntry<Key: Sendable, Value: Sendable>: Sendable {
    @usableFromInline let key: Key
    @usableFromInline let value: Value
    @usableFromInline let cost: Int
    @usableFromInline let reason: EvictionReason

    @inlinable
    init(key: Key, value: Value, cost: Int, reason: EvictionReason) {
        (self.key, self.value, self.cost, self.reason) = (key, value, cost, reason)
    }
}

/// Finds entries by the hash of their group: an index to the first entry of a list that runs through the entries.
///
/// Groups of one hash share a list.
@usableFromInline
struct GroupIndex: Sendable {
    @usableFromInline var heads = HashIndex()

    @inlinable
    init() {}

    @inlinable
    func first<Key, Value>(_ hash: Int, in entries: StableBuffer<CacheEntry<Key, Value>>) -> Int? {
        heads.slot(hash) { entries[$0].groupHash == hash }
    }

    /// Adds an entry, whose group hash is set.
    @inlinable
    mutating func insert<Key, Value>(_ slot: Int, into entries: StableBuffer<CacheEntry<Key, Value>>) {
        let hash = entries[slot].groupHash
        entries[slot].previousInGroup = -1
        entries[slot].nextInGroup = -1
        guard let head = first(hash, in: entries) else {
            return heads.insert(slot, hash: hash) { entries[$0].groupHash }
        }
        // Behind the first, so that the index need not change.
        let second = entries[head].nextInGroup
        entries[slot].previousInGroup = Int32(head)
        entries[slot].nextInGroup = second
        entries[head].nextInGroup = Int32(slot)
        if second >= 0 { entries[Int(second)].previousInGroup = Int32(slot) }
    }

    @inlinable
    mutating func remove<Key, Value>(_ slot: Int, from entries: StableBuffer<CacheEntry<Key, Value>>) {
        let (previous, next) = (entries[slot].previousInGroup, entries[slot].nextInGroup)
        if next >= 0 { entries[Int(next)].previousInGroup = previous }
        if previous >= 0 {
            entries[Int(previous)].nextInGroup = next
            return
        }
        let hash = entries[slot].groupHash
        heads.remove(slot, hash: hash) { entries[$0].groupHash }
        if next >= 0 { heads.insert(Int(next), hash: hash) { entries[$0].groupHash } }
    }
}

/// Which slots hold an entry: all slots in a row, those in use before those that are free, so that a walk over the former
/// meets no other. Eight bytes a slot, every operation O(1), amortised where memory grows.
///
/// Source: P. Briggs, L. Torczon, "An Efficient Representation for Sparse Sets", ACM Letters on Programming Languages and
/// Systems 2 (1993).
@usableFromInline
struct SlotSet: Sendable {
    @usableFromInline var order = StableBuffer<Int32>()
    /// Where in the row a slot stands.
    @usableFromInline var positions = StableBuffer<Int32>()
    /// How many are in use.
    @usableFromInline var count = 0

    @inlinable
    init() {}

    /// How many slots there are, in use or free.
    @inlinable var capacity: Int { order.count }

    /// The slot at a place below ``count``.
    @inlinable
    subscript(position: Int) -> Int { Int(order[position]) }

    @inlinable
    func contains(_ slot: Int) -> Bool { slot >= 0 && slot < positions.count && positions[slot] < count }

    /// Takes a free slot, the one that was freed last; a new one, numbered ``capacity``, when there is none.
    @inlinable
    mutating func take() -> Int {
        if count == order.count {
            order.append(Int32(count))
            positions.append(Int32(count))
        }
        count += 1
        return self[count - 1]
    }

    /// Frees a slot that is in use. The last one in use comes to its place.
    @inlinable
    mutating func free(_ slot: Int) {
        count -= 1
        let (position, last) = (positions[slot], order[count])
        order[Int(position)] = last
        positions[Int(last)] = position
        order[count] = Int32(slot)
        positions[slot] = Int32(count)
    }
}

/// A key of which several belong together, such as the variants of one image.
///
/// A memory cache with such keys removes a group without looking at its other entries. Groups are compared under its
/// lock, as keys are: neither may call the cache.
@usableFromInline
package protocol GroupedKey: Hashable, Sendable {
    /// What keys that belong together have in common.
    associatedtype Group: Hashable & Sendable
    /// The group of this key.
    var group: Group { get }
    /// `group.hashValue`. A key that keeps it ready saves work at each store.
    var groupHash: Int { get }
}

extension GroupedKey {
    package var groupHash: Int { group.hashValue }
}

extension ImageKey: GroupedKey {
    /// The resource, which all variants of an image share.
    @usableFromInline package var group: ResourceKey { resource }
    @usableFromInline package var groupHash: Int { resourceHash }
}
