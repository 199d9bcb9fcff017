import AlcedoCore

/// When an entry was stored and used, and when its time is over.
struct EntryTimes: Equatable, Sendable {
    var stored: Timestamp
    var used: Timestamp
    /// The entry's own; nil when only the cache's age limit counts.
    var expiry: Timestamp?

    /// Whether the entry is not found any more.
    func areOver(_ limits: DataCacheLimits, at now: Timestamp) -> Bool {
        limits.isOver(storedAt: stored, lastUse: used, expiry: expiry, now: now)
    }

    /// The times after a use.
    func used(at now: Timestamp, _ limits: DataCacheLimits) -> EntryTimes {
        EntryTimes(
            stored: stored, used: limits.lastUse(used, usedAt: now),
            expiry: limits.expiry(expiry, after: used, usedAt: now))
    }
}
