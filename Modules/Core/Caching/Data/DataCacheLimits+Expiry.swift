extension DataCacheLimits {
    /// How far ahead the date of a last use may be and still be believed, in milliseconds: a year.
    ///
    /// A clock that is set back by a battery's end, and forward again by the network, must not make entries old that were
    /// used between. What a clock wrong the other way has left must grow old some day.
    private static let farthestAhead: Int64 = 365 * 24 * 60 * 60 * 1000

    /// Whether an entry's time is over. A date in the future counts as now: the clock has gone back since, or will.
    package func isOver(storedAt: Timestamp, lastUse: Timestamp, expiry: Timestamp?, now: Timestamp) -> Bool {
        if let expiry { return now >= expiry }
        guard let age else { return false }
        // What was stored in the future counts by its last use: else it would stay until then.
        let start = storedAt > now ? lastUse : ageBasis == .lastUse ? max(lastUse, storedAt) : storedAt
        return Double(now.milliseconds - start.milliseconds) >= age / .milliseconds(1)
    }

    /// The date of the last use of an entry that is used now: a clock that goes back makes it no earlier, by less than a
    /// year.
    package func lastUse(_ lastUse: Timestamp, usedAt now: Timestamp) -> Timestamp {
        lastUse.milliseconds - now.milliseconds > Self.farthestAhead ? now : max(lastUse, now)
    }

    /// The expiry of an entry that is used now: it moves as far as the date of the last use does.
    package func expiry(_ expiry: Timestamp?, after lastUse: Timestamp, usedAt now: Timestamp) -> Timestamp? {
        guard extendsExpiryOnUse, let expiry else { return expiry }
        let moved = self.lastUse(lastUse, usedAt: now).milliseconds - lastUse.milliseconds
        return Timestamp(milliseconds: expiry.milliseconds + moved)
    }
}
