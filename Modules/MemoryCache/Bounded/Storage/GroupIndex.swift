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
