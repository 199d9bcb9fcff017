extension DataCacheLimits {
    /// Whether an entry's time is over. So it is for a date as far in the future, which a clock that was wrong has left: else
    /// the entry would stay until then.
    package func isOver(storedAt: Timestamp, lastUse: Timestamp, expiry: Timestamp?, now: Timestamp) -> Bool {
        if let expiry { return now >= expiry }
        guard let age else { return false }
        let start = ageBasis == .lastUse ? max(lastUse, storedAt) : storedAt
        return Double(abs(now.milliseconds - start.milliseconds)) >= age / .milliseconds(1)
    }

    /// The expiry of an entry that is used now.
    package func expiry(_ expiry: Timestamp?, after lastUse: Timestamp, usedAt now: Timestamp) -> Timestamp? {
        guard extendsExpiryOnUse, let expiry, now > lastUse else { return expiry }
        return Timestamp(milliseconds: expiry.milliseconds + now.milliseconds - lastUse.milliseconds)
    }
}
