/// A policy whose hand moves from the oldest entry to the newest. The hand spares each entry that was used since its
/// last pass. The policy evicts the first entry that was not used since then.
///
/// Source: Y. Zhang, J. Yang, Y. Yue, Y. Vigfusson, K. V. Rashmi, "SIEVE is Simpler than LRU: an Efficient Turn-Key
/// Eviction Algorithm for Web Caches", NSDI 2024.
struct SIEVEPolicy: MarkedEvictionPolicy {
    static var readsMarks: Bool { true }

    private var order = SlotLists(count: 1)
    private var hand: Int?

    /// Creates a policy without entries.
    init() {}

    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool, marks: AccessMarks) {
        order.append(slot, to: 0)
    }

    mutating func remove(_ slot: Int) {
        if hand == slot { hand = order.next(after: slot) }
        order.remove(slot, from: 0)
    }

    mutating func evict(marks: AccessMarks) -> Int? {
        // O(1) amortized: each step, except the last and the one past the newest, clears a mark that a hit has set.
        while let slot = hand ?? order.oldest(of: 0) {
            hand = order.next(after: slot)
            // In the paper, a new entry is inserted after the eviction, so the hand neither visits it nor stops at it.
            if let next = hand, order.isNewest(next, of: 0) { hand = nil }
            if order.isNewest(slot, of: 0), order.oldest(of: 0) != slot { continue }
            guard marks.takeCount(slot) == 0 else { continue }
            order.remove(slot, from: 0)
            return slot
        }
        return nil
    }

    mutating func removeAll() { self = SIEVEPolicy() }
}
