import AlcedoRuntime

/// The limits of a data cache: total size, number of entries and maximum age.
///
/// ```swift
/// let limits = DataCacheLimits(sizeLimit: 512 << 20, maximumAge: .seconds(30 * 24 * 60 * 60))
/// ```
public struct DataCacheLimits: Sendable, Hashable {
    /// The date from which the age of an entry is counted.
    public enum AgeBasis: Sendable, Hashable {
        /// The date of the last read or store.
        case lastUse
        /// The date on which the entry was stored. Reads do not change the age.
        case storing
    }

    /// The maximum number of bytes that the entries occupy. A disk cache counts the blocks that the file system has
    /// allocated for the entries, not the lengths of their files. With zero or less, nothing is stored, and stores
    /// throw ``DataCacheError`` `tooLarge`.
    public var sizeLimit: Int
    /// The maximum number of entries. With zero or less, nothing is stored, and stores throw ``DataCacheError``
    /// `tooLarge`.
    public var countLimit: Int
    /// The maximum age of an entry that has no expiry of its own; nil for no limit. A date in the future counts as the
    /// current date, so a clock that is set back and later corrected does not make entries expire.
    public var maximumAge: Duration?
    /// The date from which ``maximumAge`` is counted.
    public var ageBasis: AgeBasis
    /// Whether reading an entry that has its own expiry postpones the expiry by the time since the last use.
    ///
    /// When the clock has been set back, the expiry does not change until the clock passes the last use again. When the
    /// last use is more than a year ahead of the clock, and the entry has not expired, the last use becomes the current
    /// date, and the expiry moves back by the same time.
    public var extendsExpiryOnUse: Bool
    /// The fraction of the limits to which the entries are reduced after they exceed a limit, from 0 to 1. Values
    /// outside this range are clamped; NaN counts as 0. A value below 1 leaves space, so that the next store does not
    /// cause another trim.
    public var trimTarget: Double

    /// Creates the limits of a data cache.
    ///
    /// - Parameters:
    ///   - sizeLimit: The maximum total size, in bytes. Default: 256 MiB.
    ///   - countLimit: The maximum number of entries. Default: no limit.
    ///   - maximumAge: The maximum age of an entry; nil for no limit. Default: seven days, as in Kingfisher and
    ///     SDWebImage.
    ///   - ageBasis: The date from which the age is counted. Default: the last use.
    ///   - extendsExpiryOnUse: Whether a read postpones an entry's own expiry. Default: false.
    ///   - trimTarget: The fraction of the limits to which the entries are reduced after they exceed a limit, from 0 to
    ///     1. Default: 0.9. Kingfisher uses 0.5, Nuke 0.7.
    public init(
        sizeLimit: Int = 256 << 20, countLimit: Int = .max, maximumAge: Duration? = .seconds(7 * 24 * 60 * 60),
        ageBasis: AgeBasis = .lastUse, extendsExpiryOnUse: Bool = false, trimTarget: Double = 0.9
    ) {
        self.sizeLimit = sizeLimit
        self.countLimit = countLimit
        self.maximumAge = maximumAge
        self.ageBasis = ageBasis
        self.extendsExpiryOnUse = extendsExpiryOnUse
        self.trimTarget = trimTarget
    }

    /// Checks that the cache may store an entry of `size` bytes.
    ///
    /// - Throws: ``DataCacheError`` with the code `tooLarge` if it may not.
    package func check(_ size: Int) throws(DataCacheError) {
        guard countLimit > 0 else {
            throw DataCacheError(.tooLarge, "the cache has a limit of \(countLimit) entries")
        }
        guard size <= sizeLimit else {
            throw DataCacheError(.tooLarge, "an entry of \(size) bytes exceeds the limit of \(sizeLimit) bytes")
        }
    }

    /// The maximum number of bytes after a trim that enforces the limits.
    package var sizeAfterTrim: Int { Self.share(trimTarget, of: sizeLimit) }

    /// The maximum number of entries after a trim that enforces the limits.
    package var countAfterTrim: Int { Self.share(trimTarget, of: countLimit) }

    private static func share(_ share: Double, of limit: Int) -> Int {
        guard !(share >= 1), limit > 0 else { return max(0, limit) }
        // NaN counts as zero.
        guard share > 0 else { return 0 }
        return Int(exactly: (Double(limit) * share).rounded(.down)) ?? limit
    }
}

extension DataCacheLimits {
    /// The maximum time, in milliseconds, by which the last use of an entry may be ahead of the clock: a year. The next
    /// use replaces a date further ahead with the current date.
    ///
    /// A computer with an empty battery can start with a clock in the past, and the network corrects it later. A use in
    /// between must not give an entry an older date. A clock that was ahead leaves dates in the future. The limit lets
    /// entries with such dates expire eventually.
    private static let maximumClockLead: Int64 = 365 * 24 * 60 * 60 * 1000

    /// Whether an entry has expired. A last use in the future counts as `now`, because the clock was set back or will
    /// be corrected.
    package func isOver(storedAt: Timestamp, lastUse: Timestamp, expiry: Timestamp?, now: Timestamp) -> Bool {
        if let expiry {
            return Self.isPast(expiry, storedAt: extendsExpiryOnUse ? lastUse : storedAt, now: now)
        }
        guard let maximumAge else { return false }
        // If the date of storing is in the future, the age is counted from the last use. Counted from the date of
        // storing, the entry could not expire before the clock reaches that date.
        let start = storedAt > now ? lastUse : ageBasis == .lastUse ? max(lastUse, storedAt) : storedAt
        return Double(now.milliseconds - start.milliseconds) >= maximumAge / .milliseconds(1)
    }

    /// Whether an entry's own expiry has passed. An entry that was stored further in the future than it may live was
    /// stored while the clock was ahead. It counts as expired, because it would otherwise be found until the clock
    /// reaches the wrong date. So no entry is found for longer than twice its lifetime.
    package static func isPast(_ expiry: Timestamp, storedAt: Timestamp, now: Timestamp) -> Bool {
        now >= expiry
            || storedAt.milliseconds - now.milliseconds >= expiry.milliseconds - storedAt.milliseconds
    }

    /// Returns the date of the last use for an entry that is used now. The date never moves back, unless it is more
    /// than a year ahead of `now`.
    package func lastUse(_ lastUse: Timestamp, usedAt now: Timestamp) -> Timestamp {
        lastUse.milliseconds - now.milliseconds > Self.maximumClockLead ? now : max(lastUse, now)
    }

    /// Returns the expiry of an entry that is used now, or nil when the entry has no expiry of its own. With
    /// ``extendsExpiryOnUse``, the expiry moves by as much as the date of the last use. Otherwise it does not change.
    package func expiry(_ expiry: Timestamp?, after lastUse: Timestamp, usedAt now: Timestamp) -> Timestamp? {
        guard extendsExpiryOnUse, let expiry else { return expiry }
        let moved = self.lastUse(lastUse, usedAt: now).milliseconds - lastUse.milliseconds
        return Timestamp(milliseconds: expiry.milliseconds + moved)
    }
}
