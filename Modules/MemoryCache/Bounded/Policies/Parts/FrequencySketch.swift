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
    private static let highestCount: UInt64 = 15
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
        var least = Self.highestCount
        for row in 0..<4 {
            let (word, shift) = counter(hash, row)
            least = min(least, table[word] >> shift & Self.highestCount)
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
            if table[word] >> shift & Self.highestCount < Self.highestCount { table[word] += 1 << shift }
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
