/// A list of evicted entries by the hashes of their keys. The list forgets the oldest entry first.
///
/// An entry takes about fifty bytes. Every operation is O(1). The list does not distinguish keys with the same hash.
/// This can cause an additional miss but never a wrong value.
struct GhostList: Sendable {
    struct Ghost: Sendable {
        var hash: UInt64
        /// The total cost of all entries that ``part`` evicted up to this eviction, including this entry.
        var evictedCost: Int
        /// The low bits of the stamp of the entry's last use, which ``AccessMarks`` recorded.
        var lastUse: UInt32
        /// The number of the entry's uses that the policy counted.
        var frequency: UInt8
        /// The part of the policy that evicted the entry.
        var part: UInt8
    }

    private var slots: [UInt64: Int] = [:]
    private var ghosts = SlotArray<Ghost>()
    private var free: [Int] = []
    private var lists = SlotLists(count: 1)

    var count: Int { slots.count }

    /// Removes and returns the ghost of an entry, or returns nil if the entry is not in the list.
    mutating func take(_ hash: UInt64) -> Ghost? {
        guard let slot = slots.removeValue(forKey: hash) else { return nil }
        lists.remove(slot, from: 0)
        free.append(slot)
        return ghosts[slot]
    }

    /// Adds a ghost, and then removes the oldest ghosts until at most `limit` ghosts are left.
    mutating func remember(_ ghost: Ghost, limit: Int) {
        _ = take(ghost.hash)
        if let slot = free.popLast() {
            ghosts[slot] = ghost
            add(slot)
        } else {
            ghosts.append(ghost)
            add(ghosts.count - 1)
        }
        while count > limit, let oldest = lists.oldest(of: 0) { _ = take(ghosts[oldest].hash) }
    }

    mutating func removeAll() { self = GhostList() }

    private mutating func add(_ slot: Int) {
        slots[ghosts[slot].hash] = slot
        lists.append(slot, to: 0)
    }
}
