/// A small LRU window before a segmented LRU; what leaves the window gets in only if it came by more often lately than what
/// would have to go, as a sketch remembers. The window's size adapts.
///
/// The main part has a probation and a protected segment, the latter at most 80 % of it: an entry that is used on probation
/// is protected, and back on probation when the protected are too many.
///
/// Sources: G. Einziger, R. Friedman, B. Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions on
/// Storage 13 (2017); entries of different costs are compared one victim at a time, after G. Einziger, O. Eytan,
/// R. Friedman, B. Manes, "Lightweight Robust Size Aware Cache Management", ACM Transactions on Storage 18 (2022).
struct WTinyLFUPolicy: EvictionPolicy {
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
    init() {}

    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, hasRoom: Bool, marks: AccessMarks) {
        while entries.count <= slot { entries.append(Entry()) }
        count += 1
        sketch.reserve(count)
        sketch.increment(hash)
        climber.recordMiss(count: count)
        entries[slot] = Entry(hash: hash, cost: cost)
        add(slot, to: .window)
        while hasRoom, isWindowTooLarge, let oldest = oldest(.window) { move(oldest, to: .probation) }
    }

    mutating func use(_ slot: Int) {
        sketch.increment(entries[slot].hash)
        climber.recordHit()
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

    mutating func remove(_ slot: Int) {
        take(slot)
        count -= 1
    }

    mutating func evict(marks: AccessMarks) -> Int? {
        let victim = oldest(.probation) ?? oldest(.protected)
        guard isWindowTooLarge || victim == nil, let candidate = oldest(.window) else {
            return victim.map { forget($0) }
        }
        guard let victim, frequency(of: candidate) > frequency(of: victim) else { return forget(candidate) }
        move(candidate, to: .probation)
        return forget(victim)
    }

    mutating func removeAll() { self = WTinyLFUPolicy() }

    /// The entry stored last is not up for a duel before another has come.
    private var isWindowTooLarge: Bool {
        guard let oldest = oldest(.window), !segments.isNewest(oldest, of: Segment.window.rawValue) else {
            return false
        }
        return Double(costs[Segment.window.rawValue]) > climber.share * Double(costs.reduce(0, +))
    }

    private func frequency(of slot: Int) -> Int { sketch.estimate(entries[slot].hash) }

    private func oldest(_ segment: Segment) -> Int? { segments.oldest(of: segment.rawValue) }

    private mutating func forget(_ slot: Int) -> Int {
        remove(slot)
        return slot
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

/// Estimates how often hashes came by lately: a count-min sketch of four-bit counters, four for each hash, behind a
/// *doorkeeper*, a Bloom filter that holds those that came once. All counts are halved, and the doorkeeper emptied, after
/// ten times as many increments as there is room for entries, and then every five times.
///
/// Ten to twenty bytes an entry. O(1); the halving is O(1) amortised. Estimates are never too low, short of the halving.
///
/// Sources: G. Cormode, S. Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch and its Applications",
/// Journal of Algorithms 55 (2005); G. Einziger, R. Friedman, B. Manes, "TinyLFU", ACM Transactions on Storage 13 (2017),
/// sections 3.2 to 3.4.
struct FrequencySketch: Sendable {
    private static let maximumCount: UInt64 = 15
    /// Increments before the first halving, for each entry there is room for.
    private static let sampleFactor = 10

    /// Sixteen counters a word.
    private var table = ContiguousArray<UInt64>(repeating: 0, count: 16)
    private var doorkeeper = ContiguousArray<UInt64>(repeating: 0, count: 4)
    private var capacity = 16
    private var increments = 0

    /// Makes it large enough for so many entries. Growing forgets all counts.
    mutating func reserve(_ count: Int) {
        guard count > capacity else { return }
        while capacity < count { capacity *= 2 }
        table = ContiguousArray(repeating: 0, count: capacity)
        doorkeeper = ContiguousArray(repeating: 0, count: capacity / 4)
        increments = 0
    }

    /// Up to 16: 15 by the counters, and one by the doorkeeper.
    func estimate(_ hash: UInt64) -> Int {
        var least = Self.maximumCount
        for row in 0..<4 {
            let (word, shift) = counter(hash, row)
            least = min(least, table[word] >> shift & Self.maximumCount)
        }
        return Int(least) + (isKnown(hash) ? 1 : 0)
    }

    mutating func increment(_ hash: UInt64) {
        increments += 1
        if increments >= Self.sampleFactor * capacity { halve() }
        guard isKnown(hash) else {
            for (word, bit) in bits(hash) { doorkeeper[word] |= bit }
            return
        }
        for row in 0..<4 {
            let (word, shift) = counter(hash, row)
            if table[word] >> shift & Self.maximumCount < Self.maximumCount { table[word] += 1 << shift }
        }
    }

    mutating func removeAll() { self = FrequencySketch() }

    private mutating func halve() {
        for word in table.indices { table[word] = table[word] >> 1 & 0x7777_7777_7777_7777 }
        for word in doorkeeper.indices { doorkeeper[word] = 0 }
        increments /= 2
    }

    /// Word and shift of a hash's counter in one of four rows, which share the table.
    private func counter(_ hash: UInt64, _ row: Int) -> (word: Int, shift: UInt64) {
        let mixed = Self.mixed(hash, UInt64(row))
        return (Int(truncatingIfNeeded: mixed >> 32) & (table.count - 1), (mixed & 15) << 2)
    }

    private func bits(_ hash: UInt64) -> [(word: Int, bit: UInt64)] {
        (4..<7).map { row in
            let mixed = Self.mixed(hash, UInt64(row))
            return (Int(truncatingIfNeeded: mixed >> 32) & (doorkeeper.count - 1), 1 << (mixed & 63))
        }
    }

    private func isKnown(_ hash: UInt64) -> Bool { bits(hash).allSatisfy { doorkeeper[$0.word] & $0.bit != 0 } }

    /// SplitMix64's finaliser, from another start in each row.
    private static func mixed(_ hash: UInt64, _ row: UInt64) -> UInt64 {
        var z = hash &+ (row &+ 1) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}

/// Finds the size of a window by climbing the hit ratio: each sample changes the window, on in the same direction while
/// that pays, else back, by ever smaller steps, and by large ones again when the ratio jumps.
///
/// Source: G. Einziger, O. Eytan, R. Friedman, B. Manes, "Adaptive Software Cache Management", Middleware 2018.
private struct WindowClimber: Sendable {
    private static let firstStep = 0.0625
    private static let decay = 0.98
    /// A change of the hit ratio that means the load has changed.
    private static let restart = 0.05
    private static let samplePerEntry = 10

    /// Share of the cache that the window should have.
    private(set) var share = 0.01
    private var step = firstStep
    private var hits = 0
    private var misses = 0
    private var lastRatio: Double?

    mutating func recordHit() { hits += 1 }

    /// - Parameter count: How many entries there are.
    mutating func recordMiss(count: Int) {
        misses += 1
        guard hits + misses >= Self.samplePerEntry * max(count, 16) else { return }
        let ratio = Double(hits) / Double(hits + misses)
        if let lastRatio {
            let change = ratio - lastRatio
            if change < 0 { step = -step }
            share = min(0.8, max(0.01, share + step))
            let size = abs(change) >= Self.restart ? Self.firstStep : abs(step) * Self.decay
            step = step < 0 ? -size : size
        }
        lastRatio = ratio
        (hits, misses) = (0, 0)
    }
}
