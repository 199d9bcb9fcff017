/// The least recently used goes first. Exact, to the single read.
///
/// Source: P. Denning, "The Working Set Model for Program Behavior", Communications of the ACM 11 (1968).
public struct LRUPolicy: EvictionPolicy {
    private var order = SlotLists(count: 1)

    /// A policy that knows no entries yet.
    public init() {}

    public mutating func insert(_ entry: EntrySlot, hash: UInt64, cost: Int, hasRoom: Bool, marks: UseMarks) {
        order.append(entry.index, to: 0)
    }

    public mutating func use(_ entry: EntrySlot) { order.moveToNewest(entry.index, of: 0) }

    public mutating func remove(_ entry: EntrySlot) { order.remove(entry.index, from: 0) }

    public mutating func evict(marks: UseMarks) -> EntrySlot? { order.removeOldest(of: 0).map { EntrySlot($0) } }

    public mutating func removeAll() { order.removeAll() }
}
