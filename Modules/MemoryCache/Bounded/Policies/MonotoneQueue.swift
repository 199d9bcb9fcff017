/// A priority queue of slots, least number first, that never adds a number below the last minimum: a radix heap of
/// linked lists. Equal numbers are removed in the order of insertion.
///
/// Insertion and removal are O(1). A slot moves down at most 64 times before it is the minimum, regardless of the
/// number of slots, so finding the minimum is O(1) amortized for 64-bit numbers.
///
/// Source: R. K. Ahuja, K. Mehlhorn, J. B. Orlin, R. E. Tarjan, "Faster Algorithms for the Shortest Path Problem",
/// Journal of the ACM 37 (1990).
struct MonotoneQueue: Sendable {
    /// The lists of slots. List `b` holds the numbers whose highest bit that differs from `floor` is bit `b - 1`. List
    /// 0 holds the numbers equal to `floor`.
    private var lists = SlotLists(count: 65)
    private var numbers = SlotArray<UInt64>()
    /// The lists that are not empty, as bits: bit `b - 1` stands for list `b`. List 0 has no bit.
    private var occupied: UInt64 = 0
    /// The last minimum.
    private(set) var floor: UInt64 = 0
    private(set) var count = 0

    func number(of slot: Int) -> UInt64 { numbers[slot] }

    /// Adds a slot with the number ``floor`` plus `value`. `value` must be at most 2^62.
    mutating func insert(_ slot: Int, aboveFloor value: UInt64) {
        if floor > 1 << 62 { rebase() }
        insert(slot, floor + value)
    }

    /// Adds a slot. A number below ``floor`` counts as ``floor``.
    mutating func insert(_ slot: Int, _ number: UInt64) {
        while numbers.count <= slot { numbers.append(0) }
        numbers[slot] = max(number, floor)
        count += 1
        append(slot)
    }

    mutating func remove(_ slot: Int) {
        let list = list(of: numbers[slot])
        lists.remove(slot, from: list)
        if list > 0, lists.oldest(of: list) == nil { occupied &= ~(1 << UInt64(list - 1)) }
        count -= 1
    }

    /// Returns the slot with the least number, and raises ``floor`` to that number. Returns nil if the queue is empty.
    mutating func least() -> Int? {
        if let slot = lists.oldest(of: 0) { return slot }
        guard occupied != 0 else { return nil }
        let list = occupied.trailingZeroBitCount + 1
        var slots = lists.oldest(of: list)
        var least = UInt64.max
        while let slot = slots {
            least = min(least, numbers[slot])
            slots = lists.next(after: slot)
        }
        floor = least
        occupied &= ~(1 << UInt64(list - 1))
        while let slot = lists.oldest(of: list) {
            lists.remove(slot, from: list)
            append(slot)
        }
        return lists.oldest(of: 0)
    }

    mutating func removeAll() { self = MonotoneQueue() }

    /// Subtracts the floor from every number, long before the largest could overflow. O(n), once per 2^62 of growth.
    private mutating func rebase() {
        var slots: [Int] = []
        for list in 0...64 {
            while let slot = lists.oldest(of: list) {
                lists.remove(slot, from: list)
                numbers[slot] -= floor
                slots.append(slot)
            }
        }
        floor = 0
        occupied = 0
        for slot in slots { append(slot) }
    }

    private mutating func append(_ slot: Int) {
        let list = list(of: numbers[slot])
        lists.append(slot, to: list)
        if list > 0 { occupied |= 1 << UInt64(list - 1) }
    }

    private func list(of number: UInt64) -> Int { 64 - (number ^ floor).leadingZeroBitCount }
}
