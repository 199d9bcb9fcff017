/// A policy with three queues: a small one for new entries, a main one, and one of ghosts, which stand for evicted
/// entries.
///
/// An entry that is used more than once in the small queue moves to the main queue. An entry that returns soon after
/// its eviction from the small queue enters the main queue at once. A used entry in the main queue returns to the
/// queue's end instead of being evicted.
///
/// Source: J. Yang, Y. Zhang, Z. Qiu, Y. Yue, K. V. Rashmi, "FIFO Queues are All You Need for Cache Eviction", SOSP
/// 2023.
struct S3FIFOPolicy: MarkedEvictionPolicy {
    static var readsMarks: Bool { true }

    private struct Entry: Sendable {
        var hash: UInt64 = 0
        var cost = 0
        var frequency: UInt8 = 0
        var isInMain = false
    }

    private static let small = 0
    private static let main = 1
    private static let smallShare = 0.1
    private static let maximumFrequency = 3
    /// The number of uses in the small queue that moves an entry to the main queue.
    private static let promotion = 2

    private var entries = SlotArray<Entry>()
    private var queues = SlotLists(count: 2)
    private var ghosts = GhostList()
    private var costs = (small: 0, main: 0)
    private var count = 0

    /// Creates a policy without entries.
    init() {}

    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool, marks: AccessMarks) {
        while entries.count <= slot { entries.append(Entry()) }
        let isKnown = ghosts.take(hash) != nil
        entries[slot] = Entry(hash: hash, cost: cost, isInMain: isKnown)
        count += 1
        enqueue(slot)
    }

    mutating func remove(_ slot: Int) {
        dequeue(slot)
        count -= 1
    }

    mutating func evict(marks: AccessMarks) -> Int? {
        while let slot = nextCandidate {
            dequeue(slot)
            let uses = Int(entries[slot].frequency) + marks.takeCount(slot)
            entries[slot].frequency = UInt8(min(uses, Self.maximumFrequency))
            if entries[slot].isInMain, uses > 0 {
                entries[slot].frequency -= 1
            } else if !entries[slot].isInMain, uses >= Self.promotion {
                entries[slot].isInMain = true
                // Section 4.1: moving to the main queue resets the frequency.
                entries[slot].frequency = 0
            } else {
                count -= 1
                if !entries[slot].isInMain {
                    let ghost = GhostList.Ghost(
                        hash: entries[slot].hash, evictedCost: 0, lastUse: 0, frequency: 0, part: 0)
                    ghosts.remember(ghost, limit: count)
                }
                return slot
            }
            enqueue(slot)
        }
        return nil
    }

    mutating func removeAll() { self = S3FIFOPolicy() }

    private var nextCandidate: Int? {
        let total = Double(costs.small + costs.main)
        let (small, main) = (queues.oldest(of: Self.small), queues.oldest(of: Self.main))
        return Double(costs.small) > Self.smallShare * total ? small ?? main : main ?? small
    }

    private mutating func enqueue(_ slot: Int) {
        let entry = entries[slot]
        queues.append(slot, to: entry.isInMain ? Self.main : Self.small)
        if entry.isInMain { costs.main += entry.cost } else { costs.small += entry.cost }
    }

    private mutating func dequeue(_ slot: Int) {
        let entry = entries[slot]
        queues.remove(slot, from: entry.isInMain ? Self.main : Self.small)
        if entry.isInMain { costs.main -= entry.cost } else { costs.small -= entry.cost }
    }
}
