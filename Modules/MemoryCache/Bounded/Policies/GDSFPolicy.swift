/// A policy that evicts the entry with the fewest uses relative to its cost. An age that grows with each eviction makes
/// old uses count less.
///
/// An entry's value is its number of uses (up to 65,535) divided by its cost, plus an age. At each use or store of the
/// entry, the age is set to the value of the most recently evicted entry. With images of equal size, the policy behaves
/// like LFU with aging. Small images stay longer than large ones.
///
/// Source: L. Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching Policy", HP
/// Laboratories (1998), with the cost of a miss taken as 1. The queue is a radix heap instead of the paper's heap.
struct GDSFPolicy: MarkedEvictionPolicy {
    private struct Entry: Sendable {
        var cost = 0
        var frequency: UInt16 = 1
    }

    /// The value of one use of an entry of cost 1. Entries that cost more than 2^40 per use all have the lowest value,
    /// 1.
    private static let unit = Double(1 << 40)

    private var entries = SlotArray<Entry>()
    private var queue = MonotoneQueue()

    /// Creates a policy without entries.
    init() {}

    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool, marks: AccessMarks) {
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
