public import AlcedoCore

/// The entries of a memory cache with their costs and the index that finds them. Every operation is O(1), amortized
/// when memory grows, unless its comment says otherwise.
@usableFromInline
struct EntryTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var entries = StableBuffer<CacheEntry<Key, Value>>()
    /// The properties of the entries that a hit does not read, by slot.
    @usableFromInline var details = StableBuffer<EntryDetails>()
    @usableFromInline var index = HashIndex()
    /// The index of groups; nil if keys have no groups.
    @usableFromInline var groups: GroupIndex?
    @usableFromInline var slots = SlotSet()
    @usableFromInline var totalCost = 0
    /// The number of entries that have a deadline.
    @usableFromInline var expiringCount = 0
    /// The priorities that differ from normal, by slot.
    @usableFromInline var priorities: [Int: PurgePriority] = [:]

    @inlinable
    init(hasGroups: Bool) {
        groups = hasGroups ? GroupIndex() : nil
        assert(MemoryLayout<CacheEntry<Key, Value>>.offset(of: \.deadline) == 0)
    }

    @inlinable var count: Int { slots.count }

    @inlinable @inline(__always)
    func slot(of key: Key, hash: Int) -> Int? {
        index.slot(hash) { slot in
            guard let stored = entries[slot].key else { return false }
            return stored == key
        }
    }

    /// Adds an entry under a key that has none. Returns its slot.
    @inlinable
    mutating func insert(
        _ value: Value, for key: Key, hash: Int, groupHash: Int, cost: Int, expiration: EntryExpiration
    ) -> Int {
        let slot = slots.take()
        if slot == entries.count {
            entries.append(CacheEntry())
            details.append(EntryDetails())
        }
        entries[slot].key = key
        entries[slot].value = value
        entries[slot].cost = cost
        details[slot].hash = hash
        details[slot].groupHash = groupHash
        setExpiration(expiration, of: slot)
        index.insert(slot, hash: hash)
        groups?.insert(slot, into: details)
        totalCost += cost
        return slot
    }

    /// Replaces a value by one of the same cost. Returns the old value.
    @inlinable
    mutating func replace(_ slot: Int, with value: Value, expiration: EntryExpiration) -> Value? {
        setExpiration(expiration, of: slot)
        let old = entries[slot].value.take()
        entries[slot].value = value
        return old
    }

    /// Removes the entry of a slot, frees the slot, and returns the entry.
    @inlinable
    mutating func remove(_ slot: Int, reason: EvictionReason) -> RemovedEntry<Key, Value>? {
        index.remove(slot, hash: details[slot].hash)
        groups?.remove(slot, from: details)
        setExpiration(EntryExpiration(), of: slot)
        setPriority(.normal, of: slot)
        totalCost -= entries[slot].cost
        slots.free(slot)
        guard let key = entries[slot].key.take(), let value = entries[slot].value.take() else { return nil }
        return RemovedEntry(key: key, value: value, cost: entries[slot].cost, reason: reason)
    }

    @inlinable
    func isExpired(_ slot: Int, at now: Int64) -> Bool { entries[slot].deadline <= now }

    /// Returns the slots of a group's entries, and of the entries of other groups with the same hash. O(number of slots
    /// returned).
    @inlinable
    func slots(ofGroup hash: Int) -> [Int] {
        var slots: [Int] = []
        var next = groups?.first(hash, in: details)
        while let slot = next {
            slots.append(slot)
            let following = details[slot].nextInGroup
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
        expiringCount += (expiration.expires ? 1 : 0) - (entries[slot].deadline < .max ? 1 : 0)
        entries[slot].deadline = expiration.deadline
        details[slot].extensionSpan = expiration.extensionSpan
    }

    @inlinable
    func expiration(of slot: Int) -> EntryExpiration {
        EntryExpiration(deadline: entries[slot].deadline, extensionSpan: details[slot].extensionSpan)
    }
}

/// A place for an entry of a memory cache, in use or free. It contains what a hit reads: 64 bytes, one line of the
/// processor's cache, if the key is an ``ImageKey`` and the value an object.
@usableFromInline
struct CacheEntry<Key: Sendable, Value: Sendable>: Sendable {
    /// The deadline of the entry's ``EntryExpiration``. It is the first property, so that it is at the entry's address;
    /// see ``EntryLookup/atomicDeadline(of:)``.
    @usableFromInline var deadline = Int64.max
    /// The key. The key and the value are nil while the place is free.
    @usableFromInline var key: Key?
    @usableFromInline var value: Value?
    @usableFromInline var cost = 0

    @inlinable
    init() {}
}

/// The properties of an entry that a hit does not read.
@usableFromInline
struct EntryDetails: Sendable {
    /// The span of the entry's ``EntryExpiration``.
    @usableFromInline var extensionSpan = Int64(0)
    @usableFromInline var hash = 0
    @usableFromInline var groupHash = 0
    /// The slot of the next entry in the list of the group; -1 for none.
    @usableFromInline var nextInGroup: Int32 = -1
    /// The slot of the previous entry in the list of the group; -1 for none.
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

/// An index of entries by the hash of their group.
///
/// For each hash, the index refers to the first entry of a linked list. The list contains the entries of all groups
/// with this hash.
@usableFromInline
struct GroupIndex: Sendable {
    @usableFromInline var heads = HashIndex()

    @inlinable
    init() {}

    @inlinable
    func first(_ hash: Int, in entries: StableBuffer<EntryDetails>) -> Int? {
        heads.slot(hash) { entries[$0].groupHash == hash }
    }

    /// Adds an entry whose group hash is already set.
    @inlinable
    mutating func insert(_ slot: Int, into entries: StableBuffer<EntryDetails>) {
        let hash = entries[slot].groupHash
        entries[slot].previousInGroup = -1
        entries[slot].nextInGroup = -1
        guard let head = first(hash, in: entries) else {
            return heads.insert(slot, hash: hash)
        }
        // The entry is linked behind the first, so that the index stays unchanged.
        let second = entries[head].nextInGroup
        entries[slot].previousInGroup = Int32(head)
        entries[slot].nextInGroup = second
        entries[head].nextInGroup = Int32(slot)
        if second >= 0 { entries[Int(second)].previousInGroup = Int32(slot) }
    }

    @inlinable
    mutating func remove(_ slot: Int, from entries: StableBuffer<EntryDetails>) {
        let (previous, next) = (entries[slot].previousInGroup, entries[slot].nextInGroup)
        if next >= 0 { entries[Int(next)].previousInGroup = previous }
        if previous >= 0 {
            entries[Int(previous)].nextInGroup = next
            return
        }
        let hash = entries[slot].groupHash
        heads.remove(slot, hash: hash)
        if next >= 0 { heads.insert(Int(next), hash: hash) }
    }
}

/// The set of slots in use.
///
/// All slots are in one array, with the slots in use before the free ones, so that an iteration over the slots in use
/// visits no free slot. Takes eight bytes per slot. Every operation is O(1), amortized when memory grows.
///
/// Source: P. Briggs, L. Torczon, "An Efficient Representation for Sparse Sets", ACM Letters on Programming Languages
/// and Systems 2 (1993).
@usableFromInline
struct SlotSet: Sendable {
    @usableFromInline var order = StableBuffer<Int32>()
    /// The position of each slot in ``order``.
    @usableFromInline var positions = StableBuffer<Int32>()
    /// The number of slots in use.
    @usableFromInline var count = 0

    @inlinable
    init() {}

    /// The number of slots, in use or free.
    @inlinable var capacity: Int { order.count }

    /// Returns the slot at a position below ``count``.
    @inlinable
    subscript(position: Int) -> Int { Int(order[position]) }

    @inlinable
    func contains(_ slot: Int) -> Bool { slot >= 0 && slot < positions.count && positions[slot] < count }

    /// Takes and returns the slot that was freed last. If none is free, adds a new one, numbered ``capacity``.
    @inlinable
    mutating func take() -> Int {
        if count == order.count {
            order.append(Int32(count))
            positions.append(Int32(count))
        }
        count += 1
        return self[count - 1]
    }

    /// Frees a slot that is in use. The last slot in use moves to the position of the freed slot.
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

/// A key that belongs to a group, such as a variant of an image.
///
/// A memory cache with such keys removes a group without visiting the entries of other groups. The cache compares
/// groups and keys under its lock, so neither comparison may call the cache.
@usableFromInline
package protocol GroupedKey: Hashable, Sendable {
    /// The type of the property that all keys of a group share.
    associatedtype Group: Hashable & Sendable
    /// The group of this key.
    var group: Group { get }
    /// The hash value of the group. Each store in a cache reads it. The default computes it.
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
