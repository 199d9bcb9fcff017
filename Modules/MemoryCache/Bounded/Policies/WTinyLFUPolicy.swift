/// A policy with a small LRU window in front of a segmented LRU. An entry that leaves the window is admitted only if a
/// sketch estimates its recent frequency to be higher than that of the entry it would replace. The size of the window
/// adapts.
///
/// The segmented LRU, the main part, has a probation segment and a protected segment. The protected segment takes at
/// most 80 % of the main part. An entry that is used on probation becomes protected. When the protected segment is too
/// large, its oldest entries return to probation.
///
/// Sources: G. Einziger, R. Friedman, B. Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions
/// on Storage 13 (2017). The comparison of entries of different costs, one victim at a time, follows G. Einziger, O.
/// Eytan, R. Friedman, B. Manes, "Lightweight Robust Size Aware Cache Management", ACM Transactions on Storage 18
/// (2022).
struct WTinyLFUPolicy: MarkedEvictionPolicy {
    private enum Segment: Int { case window, probation, protected }

    private struct Entry: Sendable {
        var hash: UInt64 = 0
        var cost = 0
        var segment = Segment.window
    }

    private static let protectedShare = 0.8

    private var entries = SlotArray<Entry>()
    private var segments = SlotLists(count: 3)
    private var costs: [Int] = [0, 0, 0]
    private var count = 0
    private var sketch = FrequencySketch()
    private var climber = WindowClimber()

    /// Creates a policy without entries.
    init() {}

    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool, marks: AccessMarks) {
        while entries.count <= slot { entries.append(Entry()) }
        count += 1
        sketch.reserve(count)
        sketch.increment(hash)
        climber.recordMiss(count: count)
        entries[slot] = Entry(hash: hash, cost: cost)
        add(slot, to: .window)
        while fits, isWindowTooLarge, let oldest = oldest(.window) { move(oldest, to: .probation) }
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

    /// Whether the window exceeds its share. A window with a single entry never counts as too large, so a newly stored
    /// entry stays in an otherwise empty window.
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

/// A sketch that estimates the recent frequency of hashes.
///
/// It is a count-min sketch of four-bit counters, four for each hash, behind a *doorkeeper*, a Bloom filter that holds
/// the hashes that occurred once. The capacity is a number of entries. The sketch halves all counts and empties the
/// doorkeeper after 10 × capacity increments, and then after every 5 × capacity increments.
///
/// It takes ten to twenty bytes per entry. All operations are O(1); the halving is O(1) amortized. For a frequency of
/// up to 16, the estimate is too low only after counts were halved or reset.
///
/// Sources: G. Cormode, S. Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch and its Applications",
/// Journal of Algorithms 55 (2005); G. Einziger, R. Friedman, B. Manes, "TinyLFU", ACM Transactions on Storage 13
/// (2017), sections 3.2 to 3.4.
struct FrequencySketch: Sendable {
    private static let maximumCount: UInt64 = 15
    /// The number of increments before the first halving, per entry of the capacity.
    private static let sampleFactor = 10

    /// The counters, sixteen per word.
    private var table = SlotArray<UInt64>(repeating: 0, count: 16)
    private var doorkeeper = SlotArray<UInt64>(repeating: 0, count: 4)
    private var capacity = 16
    private var increments = 0

    /// Increases the capacity to at least `count` entries. Growing resets all counts.
    mutating func reserve(_ count: Int) {
        guard count > capacity else { return }
        while capacity < count { capacity *= 2 }
        table = SlotArray(repeating: 0, count: capacity)
        doorkeeper = SlotArray(repeating: 0, count: capacity / 4)
        increments = 0
    }

    /// Returns the estimated frequency, up to 16: 15 from the counters and one from the doorkeeper.
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

    /// Returns the word and the shift of a hash's counter in one of four rows, which share the table.
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

    /// Applies SplitMix64's finalizer, with a different start in each row.
    private static func mixed(_ hash: UInt64, _ row: UInt64) -> UInt64 {
        var z = hash &+ (row &+ 1) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}

/// A hill climber that sets the size of the window by the hit ratio.
///
/// Each sample after the first changes the window. If the hit ratio fell, the direction is opposite to that of the
/// previous change. Otherwise, the direction is the same. The steps become smaller with each sample, and large again
/// when the ratio jumps.
///
/// Source: G. Einziger, O. Eytan, R. Friedman, B. Manes, "Adaptive Software Cache Management", Middleware 2018.
private struct WindowClimber: Sendable {
    private static let firstStep = 0.0625
    private static let decay = 0.98
    /// The minimum change of the hit ratio that counts as a change of the workload.
    private static let restart = 0.05
    private static let samplePerEntry = 10

    /// The share of the cache that the window should take.
    private(set) var share = 0.01
    private var step = firstStep
    private var hits = 0
    private var misses = 0
    private var lastRatio: Double?

    mutating func recordHit() { hits += 1 }

    /// Records a miss, and changes the share at the end of a sample.
    ///
    /// - Parameter count: The number of entries in the cache.
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
