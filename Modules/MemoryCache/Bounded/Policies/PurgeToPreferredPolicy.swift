/// Lets everything be until the limit is passed, then the least recently used go until the rest cost no more than a lower
/// mark: one purge in a while instead of one at each store.
///
/// Source: AFNetworking's and AlamofireImage's `AutoPurgingImageCache`.
public struct PurgeToPreferredPolicy: EvictionPolicy {
    private var recency = LRUPolicy()
    /// What the entries may cost after a purge.
    public let preferredCost: Int

    /// - Parameter preferredCost: Below nought counts as nought; above the cache's limit, as that limit.
    public init(preferredCost: Int) { self.preferredCost = max(0, preferredCost) }

    public mutating func insert(_ entry: EntrySlot, hash: UInt64, cost: Int, hasRoom: Bool, marks: UseMarks) {
        recency.insert(entry, hash: hash, cost: cost, hasRoom: hasRoom, marks: marks)
    }

    public mutating func use(_ entry: EntrySlot) { recency.use(entry) }

    public mutating func remove(_ entry: EntrySlot) { recency.remove(entry) }

    public mutating func evict(marks: UseMarks) -> EntrySlot? { recency.evict(marks: marks) }

    public mutating func removeAll() { recency.removeAll() }

    public func costToKeep(limit: Int) -> Int { min(limit, preferredCost) }
}
