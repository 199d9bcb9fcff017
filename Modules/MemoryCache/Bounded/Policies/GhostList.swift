/// Remembers entries that have gone, by the hashes of their keys, and forgets the oldest first.
///
/// About fifty bytes each. Every operation is O(1). Two keys of one hash are taken for one another: that can cost a hit,
/// never a wrong value.
struct GhostList: Sendable {
    struct Ghost: Sendable {
        var hash: UInt64
        /// The sum of the costs that its part had evicted by then.
        var evictedCost: Int
        /// The low bits of its last use by ``AccessMarks``.
        var lastUse: UInt32
        /// How often the entry was used, as far as the policy that remembers it counts.
        var frequency: UInt8
        /// Which of the policy's parts let it go.
        var part: UInt8
    }

    private var slots: [UInt64: Int] = [:]
    private var ghosts = ContiguousArray<Ghost>()
    private var free: [Int] = []
    private var lists = SlotLists(count: 1)

    var count: Int { slots.count }

    /// Takes a ghost out, if the entry is remembered.
    mutating func take(_ hash: UInt64) -> Ghost? {
        guard let slot = slots.removeValue(forKey: hash) else { return nil }
        lists.remove(slot, from: 0)
        free.append(slot)
        return ghosts[slot]
    }

    /// Remembers an entry, and at most `limit` in all.
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
