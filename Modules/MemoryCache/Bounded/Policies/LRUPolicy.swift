/// The least recently used goes first. Exact, to the single read.
///
/// Source: P. Denning, "The Working Set Model for Program Behavior", Communications of the ACM 11 (1968).
struct LRUPolicy: EvictionPolicy {
    private var order = SlotLists(count: 1)

    /// A policy that knows no entries yet.
    init() {}

    mutating func insert(_ entry: EntrySlot, hash: UInt64, cost: Int, hasRoom: Bool, marks: AccessMarks) {
        order.append(entry.index, to: 0)
    }

    mutating func use(_ entry: EntrySlot) { order.moveToNewest(entry.index, of: 0) }

    mutating func remove(_ entry: EntrySlot) { order.remove(entry.index, from: 0) }

    mutating func evict(marks: AccessMarks) -> EntrySlot? { order.removeOldest(of: 0).map { EntrySlot($0) } }

    mutating func removeAll() { order.removeAll() }
}

/// Lets everything be until the limit is passed, then the least recently used go until the rest cost no more than a lower
/// mark: one purge in a while instead of one at each store.
///
/// Source: AFNetworking's and AlamofireImage's `AutoPurgingImageCache`.
struct PurgeToPreferredPolicy: EvictionPolicy {
    private var recency = LRUPolicy()
    /// What the entries may cost after a purge.
    let preferredCost: Int

    /// - Parameter preferredCost: Below nought counts as nought; above the cache's limit, as that limit.
    init(preferredCost: Int) { self.preferredCost = max(0, preferredCost) }

    mutating func insert(_ entry: EntrySlot, hash: UInt64, cost: Int, hasRoom: Bool, marks: AccessMarks) {
        recency.insert(entry, hash: hash, cost: cost, hasRoom: hasRoom, marks: marks)
    }

    mutating func use(_ entry: EntrySlot) { recency.use(entry) }

    mutating func remove(_ entry: EntrySlot) { recency.remove(entry) }

    mutating func evict(marks: AccessMarks) -> EntrySlot? { recency.evict(marks: marks) }

    mutating func removeAll() { recency.removeAll() }

    func costToKeep(limit: Int) -> Int { min(limit, preferredCost) }
}
