/// Slots by a number, least first, where no number is ever added below the last least one: a radix heap of linked
/// lists. Equal numbers go in the order of insertion.
///
/// Insertion and removal are O(1); a slot moves down at most 64 times before it is the least, whatever the number of
/// slots, so finding the least is O(1) amortised for the 64 bits of a number.
///
/// Source: R. K. Ahuja, K. Mehlhorn, J. B. Orlin, R. E. Tarjan, "Faster Algorithms for the Shortest Path Problem",
/// Journal of the ACM 37 (1990).
struct MonotoneQueue: Sendable {
    /// List `b` holds numbers whose highest bit that differs from `floor` is bit `b - 1`; list 0 those equal to it.
    private var lists = SlotLists(count: 65)
    private var numbers = ContiguousArray<UInt64>()
    /// Bit `b - 1` is set when list `b` is not empty, for `b` above 0.
    private var occupied: UInt64 = 0
    /// The last least number.
    private(set) var floor: UInt64 = 0
    private(set) var count = 0

    /// The number that a slot of the queue was inserted with.
    func number(of slot: Int) -> UInt64 { numbers[slot] }

    /// Adds a slot with the number ``floor`` plus `value`, which is at most 2^62.
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

    /// The slot with the least number. Raises ``floor`` to it.
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

    /// Takes the floor from every number, long before the largest could overflow. O(n), once in 2^62 of growth.
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
