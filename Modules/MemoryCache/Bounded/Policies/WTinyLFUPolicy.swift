/// A small LRU window before a segmented LRU; what leaves the window gets in only if it came by more often lately than what
/// would have to go, as a sketch remembers. The window's size adapts.
///
/// The main part has a probation and a protected segment, the latter at most 80 % of it: an entry that is used on probation
/// is protected, and back on probation when the protected are too many.
///
/// Sources: G. Einziger, R. Friedman, B. Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions on
/// Storage 13 (2017); entries of different costs are compared one victim at a time, after G. Einziger, O. Eytan,
/// R. Friedman, B. Manes, "Lightweight Robust Size Aware Cache Management", ACM Transactions on Storage 18 (2022).
public struct WTinyLFUPolicy: EvictionPolicy {
    private enum Segment: Int { case window, probation, protected }

    private struct Entry: Sendable {
        var hash: UInt64 = 0
        var cost = 0
        var segment = Segment.window
    }

    private static let protectedShare = 0.8

    private var entries = ContiguousArray<Entry>()
    private var segments = SlotLists(count: 3)
    private var costs: [Int] = [0, 0, 0]
    private var count = 0
    private var sketch = FrequencySketch()
    private var climber = WindowClimber()

    /// A policy that knows no entries yet.
    public init() {}

    public mutating func insert(_ entry: EntrySlot, hash: UInt64, cost: Int, hasRoom: Bool, marks: UseMarks) {
        while entries.count <= entry.index { entries.append(Entry()) }
        count += 1
        sketch.reserve(count)
        sketch.increment(hash)
        climber.noteMiss(count: count)
        entries[entry.index] = Entry(hash: hash, cost: cost)
        add(entry.index, to: .window)
        while hasRoom, isWindowTooLarge, let oldest = oldest(.window) { move(oldest, to: .probation) }
    }

    public mutating func use(_ entry: EntrySlot) {
        let slot = entry.index
        sketch.increment(entries[slot].hash)
        climber.noteHit()
        switch entries[slot].segment {
        case .window, .protected: segments.moveToNewest(slot, of: entries[slot].segment.rawValue)
        case .probation:
            move(slot, to: .protected)
            let main = Double(costs[Segment.probation.rawValue] + costs[Segment.protected.rawValue])
            while Double(costs[Segment.protected.rawValue]) > Self.protectedShare * main,
                let oldest = oldest(.protected), oldest != slot
            {
                move(oldest, to: .probation)
            }
        }
    }

    public mutating func remove(_ entry: EntrySlot) {
        take(entry.index)
        count -= 1
    }

    public mutating func evict(marks: UseMarks) -> EntrySlot? {
        let victim = oldest(.probation) ?? oldest(.protected)
        guard isWindowTooLarge || victim == nil, let candidate = oldest(.window) else {
            return victim.map { forget($0) }
        }
        guard let victim, frequency(of: candidate) > frequency(of: victim) else { return forget(candidate) }
        move(candidate, to: .probation)
        return forget(victim)
    }

    public mutating func removeAll() { self = WTinyLFUPolicy() }

    /// The entry stored last is not up for a duel before another has come.
    private var isWindowTooLarge: Bool {
        guard let oldest = oldest(.window), !segments.isNewest(oldest, of: Segment.window.rawValue) else {
            return false
        }
        return Double(costs[Segment.window.rawValue]) > climber.share * Double(costs.reduce(0, +))
    }

    private func frequency(of slot: Int) -> Int { sketch.estimate(entries[slot].hash) }

    private func oldest(_ segment: Segment) -> Int? { segments.oldest(of: segment.rawValue) }

    private mutating func forget(_ slot: Int) -> EntrySlot {
        remove(EntrySlot(slot))
        return EntrySlot(slot)
    }

    private mutating func move(_ slot: Int, to segment: Segment) {
        take(slot)
        add(slot, to: segment)
    }

    private mutating func add(_ slot: Int, to segment: Segment) {
        entries[slot].segment = segment
        segments.append(slot, to: segment.rawValue)
        costs[segment.rawValue] += entries[slot].cost
    }

    private mutating func take(_ slot: Int) {
        let entry = entries[slot]
        segments.remove(slot, from: entry.segment.rawValue)
        costs[entry.segment.rawValue] -= entry.cost
    }
}
