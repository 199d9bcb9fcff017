/// The default policy. It weighs the frequency of an entry's use against its cost, resists scans and loops, and
/// approaches LRU when only recency matters.
///
/// `Modules/MemoryCache/README.md` explains the duels between the window and the main part, the size of the window, and
/// loops. A hit only sets a mark, which the policy reads when the entry is next in line for eviction. All operations
/// are O(1), amortized. The policy takes about 80 bytes per entry, and about fifty for each of three ghosts.
///
/// Sources: window and duel, G. Einziger, R. Friedman, B. Manes, "TinyLFU: A Highly Efficient Cache Admission Policy",
/// ACM Transactions on Storage 13 (2017); value and age, L. Cherkasova, "Improving WWW Proxies Performance with
/// Greedy-Dual-Size-Frequency Caching Policy", HP Laboratories (1998); window size from ghosts, N. Megiddo, D. Modha,
/// "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST 2003; marks, F. Corbató, "A Paging Experiment with the
/// Multics System" (1968).
struct AdaptivePolicy: MarkedEvictionPolicy {
    static var readsMarks: Bool { true }

    private struct Entry: Sendable {
        var hash: UInt64 = 0
        var cost = 0
        var frequency: UInt8 = 0
        var isInWindow = false
        /// Whether the entry returned as part of a loop.
        var isInLoop = false
        /// The number of duels that the entry has survived since its last use.
        var idleDuels: UInt8 = 0
    }

    private enum Part: UInt8 { case window, main }

    private static let maximumFrequency = 15
    private static let initialShare = 0.2
    private static let minimumShare = 0.02
    private static let ghostsPerEntry = 3
    /// The share of the total cost that defines a recent eviction. The eviction of an entry is recent if the part that
    /// evicted it, the window or the main part, has since evicted less than this share.
    private static let recentShare = 0.1
    /// The change of the window's share for one ghost, as a multiple of the share of one entry.
    private static let step = 12.0
    /// The number of duels without a use after which an entry is no longer protected from the entries of a loop.
    private static let idleDuelLimit: UInt8 = 6
    /// The number of duels, per entry of the main part, after which the main part is replaced if none of its entries
    /// was used.
    private static let idleRounds = 128
    /// The value of one use of an entry of average cost.
    private static let unit = Double(1 << 20)

    private var entries = SlotArray<Entry>()
    /// The window, ordered by last use.
    private var window = MonotoneQueue()
    /// The main part, ordered by the sum of an entry's value and of the age at the entry's last update.
    private var main = MonotoneQueue()
    private var ghosts = GhostList()
    private var loop = LoopDetector()
    /// The number of duels since the policy last found a used entry in the main part.
    private var duelsWithoutUse = 0
    /// The number of remaining duels in which a defender of equal value is replaced.
    private var replacements = 0
    private var windowCost = 0
    private var totalCost = 0
    private var windowShare = initialShare
    /// The total costs evicted from the two parts.
    private var evictedCosts = (window: 0, main: 0)

    /// Creates a policy without entries.
    init() {}

    mutating func insert(
        _ slot: Int, hash: UInt64, cost: Int, fits: Bool, marks: AccessMarks
    ) {
        while entries.count <= slot { entries.append(Entry()) }
        var frequency = 0
        let ghost = ghosts.take(hash)
        if let ghost {
            frequency = min(Int(ghost.frequency) + 1, Self.maximumFrequency)
            adapt(to: ghost)
        }
        let isInLoop = loop.contains(ghost, count: count)
        if isInLoop { shrinkWindow() }
        entries[slot] = Entry(
            hash: hash, cost: cost, frequency: UInt8(frequency), isInWindow: true, isInLoop: isInLoop)
        window.insert(slot, marks.lastUse(slot))
        windowCost += cost
        totalCost += cost
        // While the cache has free capacity, entries enter the main part without a duel.
        while fits, isWindowTooLarge, let oldest = leastRecentlyUsed(marks) { moveToMain(oldest) }
    }

    mutating func remove(_ slot: Int) { forget(slot) }

    mutating func evict(marks: AccessMarks) -> Int? {
        if loop.isActive { moveExcessToMain(marks) }
        while true {
            let defender = leastValuable(marks)
            guard isWindowTooLarge || defender == nil, let candidate = leastRecentlyUsed(marks) else {
                guard let defender else { return nil }
                evictedCosts.main &+= entries[defender].cost
                return retire(defender, from: .main, evictedCost: evictedCosts.main, marks)
            }
            if let defender {
                if isMoreValuable(candidate, than: defender) {
                    replacements = max(0, replacements - 1)
                    moveToMain(candidate)
                    continue
                }
                recordDuel(survivedBy: defender)
            }
            evictedCosts.window &+= entries[candidate].cost
            return retire(candidate, from: .window, evictedCost: evictedCosts.window, marks)
        }
    }

    mutating func removeAll() { self = AdaptivePolicy() }

    /// Whether the window exceeds its share. A window with a single entry never counts as too large, so a newly stored
    /// entry stays in an otherwise empty window.
    private var isWindowTooLarge: Bool {
        window.count > 1 && Double(windowCost) > windowShare * Double(totalCost)
    }

    private var count: Int { window.count + main.count }

    private mutating func adapt(to ghost: GhostList.Ghost) {
        let isFromWindow = ghost.part == Part.window.rawValue
        let since = (isFromWindow ? evictedCosts.window : evictedCosts.main) &- ghost.evictedCost
        guard Double(since) < Self.recentShare * Double(totalCost) else { return }
        if isFromWindow { windowShare = min(1, windowShare + windowStep) } else { shrinkWindow() }
    }

    private var windowStep: Double { Self.step / Double(max(1, count)) }

    private mutating func shrinkWindow() { windowShare = max(Self.minimumShare, windowShare - windowStep) }

    /// Moves the entries that exceed the window's share to the main part without duels. The next candidate stays in the
    /// window, because without a candidate the main part would lose an entry.
    private mutating func moveExcessToMain(_ marks: AccessMarks) {
        while window.count > 2, let oldest = leastRecentlyUsed(marks),
            Double(windowCost - entries[oldest].cost) > windowShare * Double(totalCost)
        {
            moveToMain(oldest)
        }
    }

    private func isMoreValuable(_ candidate: Int, than defender: Int) -> Bool {
        if entries[candidate].isInLoop, entries[defender].idleDuels < Self.idleDuelLimit { return false }
        let (challenge, defense) = (value(of: candidate), value(of: defender))
        return challenge > defense || replacements > 0 && challenge == defense
    }

    private mutating func recordDuel(survivedBy defender: Int) {
        duelsWithoutUse += 1
        if duelsWithoutUse >= Self.idleRounds * main.count {
            duelsWithoutUse = 0
            replacements = main.count
        }
        entries[defender].frequency >>= 1
        entries[defender].idleDuels = min(entries[defender].idleDuels + 1, Self.idleDuelLimit)
        reorder(defender)
    }

    /// Returns the least recently used entry of the window, after moving entries that were used in the meantime to
    /// their new positions.
    private mutating func leastRecentlyUsed(_ marks: AccessMarks) -> Int? {
        while let slot = window.least() {
            let lastUse = marks.lastUse(slot)
            countUses(slot, marks)
            guard lastUse > window.number(of: slot) else { return slot }
            window.remove(slot)
            window.insert(slot, lastUse)
        }
        return nil
    }

    /// Returns the least valuable entry of the main part, after moving entries that were used in the meantime to their
    /// new positions.
    private mutating func leastValuable(_ marks: AccessMarks) -> Int? {
        while let slot = main.least() {
            guard countUses(slot, marks) else { return slot }
            (duelsWithoutUse, replacements) = (0, 0)
            reorder(slot)
        }
        return nil
    }

    /// Adds the marked uses to the entry's frequency. Returns whether there were any.
    @discardableResult
    private mutating func countUses(_ slot: Int, _ marks: AccessMarks) -> Bool {
        let uses = marks.takeCount(slot)
        guard uses > 0 else { return false }
        entries[slot].idleDuels = 0
        entries[slot].frequency = UInt8(min(Int(entries[slot].frequency) + uses, Self.maximumFrequency))
        return true
    }

    /// Returns the number of uses, plus one half, per unit of cost. The half distinguishes the costs of entries without
    /// a use.
    private func value(of slot: Int) -> Double {
        (0.5 + Double(entries[slot].frequency)) / Double(max(1, entries[slot].cost))
    }

    private func priority(of slot: Int) -> UInt64 {
        let mean = max(1, Double(totalCost) / Double(max(1, count)))
        return UInt64(min(max(1, value(of: slot) * mean * Self.unit), Double(1 << 52)))
    }

    private mutating func reorder(_ slot: Int) {
        main.remove(slot)
        main.insert(slot, aboveFloor: priority(of: slot))
    }

    private mutating func moveToMain(_ slot: Int) {
        window.remove(slot)
        windowCost -= entries[slot].cost
        entries[slot].isInWindow = false
        main.insert(slot, aboveFloor: priority(of: slot))
    }

    private mutating func retire(_ slot: Int, from part: Part, evictedCost: Int, _ marks: AccessMarks) -> Int {
        let entry = entries[slot]
        let ghost = GhostList.Ghost(
            hash: entry.hash, evictedCost: evictedCost, lastUse: UInt32(truncatingIfNeeded: marks.lastUse(slot)),
            frequency: entry.frequency, part: part.rawValue)
        ghosts.remember(ghost, limit: Self.ghostsPerEntry * count)
        forget(slot)
        return slot
    }

    private mutating func forget(_ slot: Int) {
        let entry = entries[slot]
        totalCost -= entry.cost
        guard entry.isInWindow else { return main.remove(slot) }
        window.remove(slot)
        windowCost -= entry.cost
    }
}

/// The signs of a loop: a sequence of entries that is requested repeatedly and does not fit into the cache.
///
/// In a loop, entries return in the order of their last uses, each shortly after its predecessor. Other patterns lack
/// that order: scrolling back returns entries in reverse, and independent requests return them at random. Returns in
/// order are counted. A return out of order, or a miss of an entry without a ghost, subtracts eight, so the count grows
/// only if about nine of ten misses are returns in order. At a quarter of the number of entries, plus eight, the
/// requests count as a loop.
///
/// Every operation is O(1), in 24 bytes.
struct LoopDetector: Sendable {
    /// The number of returns in order that one return out of order, or one miss without a ghost, cancels.
    private static let penalty = 8

    /// The stamp of the last use that is recorded in the ghost of the entry that returned most recently.
    private var lastUse: UInt32 = 0
    private var returnsInOrder = 0
    /// Whether the recent misses are those of a loop.
    private(set) var isActive = false

    /// Records a miss, and returns whether it is part of a loop.
    ///
    /// - Parameters:
    ///   - ghost: The ghost of the entry; nil if it has none.
    ///   - count: The number of entries in the cache.
    mutating func contains(_ ghost: GhostList.Ghost?, count: Int) -> Bool {
        var isInOrder = false
        if let ghost {
            let distance = Int(Int32(bitPattern: ghost.lastUse &- lastUse))
            // Uses in too quick succession have the same stamp and are no evidence.
            guard distance != 0 else { return isActive }
            lastUse = ghost.lastUse
            // The low eight bits of a stamp count the uses between two stores, and the other bits count the stores.
            isInOrder = distance > 0 && distance >> 8 <= 1 + count / 8
        }
        let threshold = 8 + count / 4
        returnsInOrder = isInOrder ? min(returnsInOrder + 1, 2 * threshold) : max(0, returnsInOrder - Self.penalty)
        isActive = returnsInOrder >= threshold
        return isActive && isInOrder
    }
}
