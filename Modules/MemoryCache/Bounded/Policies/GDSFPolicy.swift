/// What was used least for its cost goes first, with an age that grows as entries go, so that old merit fades.
///
/// An entry's value is its number of uses (up to 65,535) divided by its cost, plus the value of the last entry that went
/// when this one was last used. Images of one size are kept like LFU with aging, small ones longer than large ones.
///
/// Source: L. Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching Policy", HP
/// Laboratories (1998), with the cost of a miss taken as 1. The queue is a radix heap, where the paper has a heap.
struct GDSFPolicy: EvictionPolicy {
    private struct Entry: Sendable {
        var cost = 0
        var frequency: UInt16 = 1
    }

    /// Value of one use of one unit of cost. Costs beyond 2^40 are all worth the least.
    private static let unit = Double(1 << 40)

    private var entries = ContiguousArray<Entry>()
    private var queue = MonotoneQueue()

    /// A policy that knows no entries yet.
    init() {}

    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, hasRoom: Bool, marks: AccessMarks) {
        while entries.count <= slot { entries.append(Entry()) }
        entries[slot] = Entry(cost: cost)
        queue.insert(slot, aboveFloor: priority(of: slot))
    }

    mutating func use(_ slot: Int) {
        if entries[slot].frequency < .max { entries[slot].frequency += 1 }
        queue.remove(slot)
        queue.insert(slot, aboveFloor: priority(of: slot))
    }

    mutating func remove(_ slot: Int) { queue.remove(slot) }

    mutating func evict(marks: AccessMarks) -> Int? {
        guard let least = queue.least() else { return nil }
        queue.remove(least)
        return least
    }

    mutating func removeAll() { self = GDSFPolicy() }

    private func priority(of slot: Int) -> UInt64 {
        let value = Double(entries[slot].frequency) / Double(max(1, entries[slot].cost))
        return UInt64(max(1, value * Self.unit))
    }
}
