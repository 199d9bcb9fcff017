/// The default: weighs how often an entry is used against its cost, resists scans and loops, and turns into LRU where
/// recency is all there is.
///
/// New entries enter a *window*, which is LRU. The one that leaves it meets the least valuable entry of the *main* part:
/// the higher of uses divided by cost stays. A defender that stays has its uses halved, so that it cannot rest on them.
/// The main part is ordered by the value plus an age that grows as entries go. Entries that have gone are remembered, three
/// times as many as there are, with their uses. When one comes back that the window let go shortly before, a larger
/// window would have kept it, and the window grows; when the main part had let it go, the window shrinks.
///
/// A loop over more than fits is recognized when entries return in the order in which they were last used (see
/// `LoopDetector`). In a loop every entry is used equally often, so the uses of a returning entry do not count
/// against a defender that was used in the present turn of the loop, and the window shrinks to its least size: a
/// fixed part of the loop stays and is hit on each turn. A turn whose ghosts are still remembered takes a defender
/// through about four duels; one that has survived six without a use is no longer protected. A longer loop leaves no
/// ghosts, and a part of it stays because no newcomer is worth more; when the whole main part goes unused for 128
/// rounds of duels, it is replaced once.
///
/// A hit only leaves a mark; the mark is looked at when the entry's turn to go has come.
///
/// All O(1), amortised. About 80 bytes an entry, and three ghosts of some fifty.
///
/// Sources: window and duel, G. Einziger, R. Friedman, B. Manes, "TinyLFU: A Highly Efficient Cache Admission Policy",
/// ACM Transactions on Storage 13 (2017); value and age, L. Cherkasova, "Improving WWW Proxies Performance with
/// Greedy-Dual-Size-Frequency Caching Policy", HP Laboratories (1998); the size of the window from what ghosts tell,
/// N. Megiddo, D. Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST 2003; marks, F. Corbató, "A Paging
/// Experiment with the Multics System" (1968).
struct AdaptivePolicy: EvictionPolicy {
    static var readsMarks: Bool { true }

    private struct Entry: Sendable {
        var hash: UInt64 = 0
        var cost = 0
        var frequency: UInt8 = 0
        var isInWindow = false
        /// Whether it returned as part of a loop.
        var isInLoop = false
        /// The number of duels that it has survived since its last use.
        var idleDuels: UInt8 = 0
    }

    private enum Part: UInt8 { case window, main }

    private static let maximumFrequency = 15
    private static let initialShare = 0.2
    private static let minimumShare = 0.02
    /// Ghosts for each entry.
    private static let ghostsPerEntry = 3
    /// A ghost came back *shortly* after it went when what its part let go since costs less than this share of all.
    private static let recentShare = 0.1
    /// By how many entries' shares the window changes for one ghost.
    private static let step = 12.0
    /// The number of duels without a use after which an entry is no longer protected from those of a loop.
    private static let idleDuelLimit: UInt8 = 6
    /// The number of duels for each entry of the main part, without a use in it, after which the main part is replaced.
    private static let idleRounds = 128
    /// Value of an entry of the average cost, for each use.
    private static let unit = Double(1 << 20)

    private var entries = ContiguousArray<Entry>()
    /// By last use.
    private var window = MonotoneQueue()
    /// By age at the last look plus value.
    private var main = MonotoneQueue()
    private var ghosts = GhostList()
    private var loop = LoopDetector()
    /// The number of duels since an entry of the main part was found used.
    private var duelsWithoutUse = 0
    /// How many more defenders give way to candidates of equal value.
    private var replacements = 0
    private var windowCost = 0
    private var totalCost = 0
    private var windowShare = initialShare
    /// Sums of the costs that went.
    private var evictedCosts = (window: 0, main: 0)

    /// A policy that knows no entries yet.
    init() {}

    mutating func insert(
        _ slot: Int, hash: UInt64, cost: Int, hasRoom: Bool, marks: AccessMarks
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
        // With room to spare the main part is filled without a duel.
        while hasRoom, isWindowTooLarge, let oldest = leastRecentlyUsed(marks) { moveToMain(oldest) }
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

    /// The entry stored last is not up for a duel before another has come.
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

    /// Gives the main part, without duels, what the window holds in excess of its share; the next candidate remains
    /// in the window, because without one the main part would lose an entry for it.
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

    /// The window's oldest, after those that were used since they took their place have moved on.
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

    /// The main part's least valuable, after those that were used since they took their place have moved on.
    private mutating func leastValuable(_ marks: AccessMarks) -> Int? {
        while let slot = main.least() {
            guard countUses(slot, marks) else { return slot }
            (duelsWithoutUse, replacements) = (0, 0)
            reorder(slot)
        }
        return nil
    }

    /// Whether there were any.
    @discardableResult
    private mutating func countUses(_ slot: Int, _ marks: AccessMarks) -> Bool {
        let uses = marks.takeCount(slot)
        guard uses > 0 else { return false }
        entries[slot].idleDuels = 0
        entries[slot].frequency = UInt8(min(Int(entries[slot].frequency) + uses, Self.maximumFrequency))
        return true
    }

    /// Uses for each unit of cost. An entry counts for half a use when it was never read.
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

/// Recognizes a loop: a sequence of entries that is requested again and again and does not fit into the cache.
///
/// In a loop, entries return in the order of their last uses, each shortly after its predecessor. Other patterns lack
/// that order: scrolling back returns entries in reverse, and independent requests return them at random. The
/// detector counts returns in order. A return out of order, or an entry that is not remembered, takes eight of them
/// back, so about nine of ten misses must be returns in order for the count to grow. A loop is recognized when the
/// count reaches a quarter of the number of entries, plus eight.
///
/// O(1), 24 bytes.
struct LoopDetector: Sendable {
    /// The number of returns in order that one other miss outweighs.
    private static let penalty = 8

    /// The last use of the entry that returned last.
    private var lastUse: UInt32 = 0
    private var returnsInOrder = 0
    /// Whether the misses of late are those of a loop.
    private(set) var isActive = false

    /// Records a miss, and returns whether it is part of a loop.
    ///
    /// - Parameters:
    ///   - ghost: The entry as it was remembered; nil for one that is not.
    ///   - count: The number of entries in the cache.
    mutating func contains(_ ghost: GhostList.Ghost?, count: Int) -> Bool {
        var isInOrder = false
        if let ghost {
            let distance = Int(Int32(bitPattern: ghost.lastUse &- lastUse))
            // Uses that follow each other too closely are not told apart, and prove nothing.
            guard distance != 0 else { return isActive }
            lastUse = ghost.lastUse
            // The low eight bits of a use tell apart those between two stores.
            isInOrder = distance > 0 && distance >> 8 <= 1 + count / 8
        }
        let threshold = 8 + count / 4
        returnsInOrder = isInOrder ? min(returnsInOrder + 1, 2 * threshold) : max(0, returnsInOrder - Self.penalty)
        isActive = returnsInOrder >= threshold
        return isActive && isInOrder
    }
}
