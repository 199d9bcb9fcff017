/// What was stored first goes first, used or not.
///
/// Source: L. Belady, "A Study of Replacement Algorithms for a Virtual-Storage Computer", IBM Systems Journal 5 (1966).
struct FIFOPolicy: EvictionPolicy {
    /// Uses do not matter, so several threads may read at once.
    static var readsMarks: Bool { true }

    private var order = SlotLists(count: 1)

    /// A policy that knows no entries yet.
    init() {}

    mutating func insert(_ entry: EntrySlot, hash: UInt64, cost: Int, hasRoom: Bool, marks: AccessMarks) {
        order.append(entry.index, to: 0)
    }

    mutating func remove(_ entry: EntrySlot) { order.remove(entry.index, from: 0) }

    mutating func evict(marks: AccessMarks) -> EntrySlot? { order.removeOldest(of: 0).map { EntrySlot($0) } }

    mutating func removeAll() { order.removeAll() }
}
