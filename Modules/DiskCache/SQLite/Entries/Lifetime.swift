import AlcedoCore

/// How long entries live, by a cache's limits. Times in milliseconds since 1970.
struct Lifetime: Sendable {
    private let age: Int64?
    /// Whether the age counts from the storing, not from the last use.
    let countsFromStoring: Bool
    private let extendsExpiry: Bool

    init(_ limits: DataCacheLimits) {
        age = limits.age.map { Int64($0.milliseconds) }
        countsFromStoring = limits.ageBasis == .storing
        extendsExpiry = limits.extendsExpiryOnUse
    }

    /// Whether an entry is not found any more.
    func isOver(_ times: EntryTimes, at now: Int64) -> Bool {
        if let expiry = times.expiry { return expiry <= now }
        return (countsFromStoring ? times.stored : times.used) <= oldest(at: now)
    }

    /// Entries from then, or from before, are too old.
    func oldest(at now: Int64) -> Int64 {
        guard let age else { return .min }
        let (oldest, overflow) = now.subtractingReportingOverflow(age)
        return overflow ? (age > 0 ? .min : .max) : oldest
    }

    /// The times of an entry after a use.
    func times(_ times: EntryTimes, usedAt now: Int64) -> EntryTimes {
        var times = times
        // A clock that went back takes nothing away.
        if extendsExpiry, let expiry = times.expiry, now > times.used {
            let (moved, overflow) = expiry.addingReportingOverflow(now &- times.used)
            times.expiry = overflow ? .max : moved
        }
        times.used = now
        return times
    }
}
