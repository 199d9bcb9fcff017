import AlcedoCore

/// What the kernel has counted lately, against which a trigger that fires is held.
///
/// Kernels fire triggers where hardly anything was stalled, and count rightly all the same: Linux 6.18 fired "some" and
/// "full" at once where the counts had risen by 148 microseconds. A trigger may also be ahead of the counts that can
/// be read, which are renewed every two seconds only; so what they do not show at once is looked for once more.
struct StallHistory: Sendable {
    /// A trigger reckons with its window, and with a part of the one before.
    private static let span = StallTriggers.window * 2
    private static let leastDistance = StallTriggers.window / 2
    /// The counts have been renewed by then.
    private static let patience = StallTriggers.window + .milliseconds(100)

    /// A level that was announced and is not shown yet.
    private struct Doubt {
        let end: Duration
        let before: StallCount
    }

    private var looks: [(time: Duration, count: StallCount)] = []
    private var doubts: [MemoryPressure: Doubt] = [:]

    /// When to look again because of a doubt; nil when there is none.
    var nextLook: Duration? { doubts.values.map(\.end).min() }

    /// Remembers a look. What is older than a trigger can see goes, and looks that come close together count as one.
    mutating func note(_ count: StallCount?, at now: Duration) {
        guard let count else { return }
        if let last = looks.last, now - last.time < Self.leastDistance { return }
        looks.append((now, count))
        if let first = looks.lastIndex(where: { now - $0.time >= Self.span }) { looks.removeFirst(first) }
    }

    /// A trigger has fired. Nothing is held against it where nothing is known.
    ///
    /// - Parameters:
    ///   - level: That of the trigger.
    ///   - count: What has been counted up to now.
    ///   - now: When it fired.
    /// - Returns: Whether the level is to be believed. If not, ``settle(_:at:)`` tells later.
    mutating func believes(_ level: MemoryPressure, _ count: StallCount?, at now: Duration) -> Bool {
        guard let count, let before = looks.last(where: { now - $0.time >= Self.span }) ?? looks.first,
            !count.shows(level, since: before.count)
        else {
            doubts[level] = nil
            return true
        }
        // An older doubt has seen more, and has its end all the same where a trigger fires again and again.
        if doubts[level] == nil { doubts[level] = Doubt(end: now + Self.patience, before: before.count) }
        return false
    }

    /// Ends the doubts that have waited long enough.
    ///
    /// - Returns: The levels that are to be believed after all.
    mutating func settle(_ count: StallCount?, at now: Duration) -> [MemoryPressure] {
        let due = doubts.filter { $0.value.end <= now }
        for level in due.keys { doubts[level] = nil }
        return due.filter { count?.shows($0.key, since: $0.value.before) ?? true }.map(\.key)
    }
}
