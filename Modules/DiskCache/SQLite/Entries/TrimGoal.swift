import AlcedoCore

/// What a trim leaves, and why it is one.
struct TrimGoal: Sendable {
    var size = Int.max
    var count = Int.max
    var reason = DataCacheTrimReport.Reason.requested
    /// When set, the entry used last stays as long as these hold.
    var limits: DataCacheLimits?

    /// A trim to what somebody asked for.
    init(size: Int, count: Int, reason: DataCacheTrimReport.Reason) {
        self.size = size
        self.count = count
        self.reason = reason
    }

    /// A trim of what exceeds the limits, down to what a trim is to leave; nil when nothing does.
    init?(_ totals: EntryTotals, exceeding limits: DataCacheLimits) {
        let (isTooLarge, areTooMany) = (totals.occupiedSize > limits.size, totals.count > limits.count)
        guard isTooLarge || areTooMany else { return nil }
        self.limits = limits
        if isTooLarge { size = limits.sizeAfterTrim }
        if areTooMany { count = limits.countAfterTrim }
        reason = isTooLarge ? .sizeLimit : .countLimit
    }

    /// Why the least recently used entry has to go; nil when it may stay.
    func reason(for totals: EntryTotals) -> DataCacheTrimReport.Reason? {
        let isTooLarge = totals.occupiedSize > size
        guard totals.count > 0, isTooLarge || totals.count > count else { return nil }
        if let limits, totals.count == 1, totals.size <= limits.size, totals.count <= limits.count { return nil }
        return reason == .sizeLimit && !isTooLarge ? .countLimit : reason
    }
}
