import AlcedoRuntime
package import FoundationEssentials

/// How much a data cache keeps, and for how long.
public struct DataCacheLimits: Sendable, Hashable {
    /// What the age of an entry is counted from.
    public enum AgeBasis: Sendable, Hashable {
        /// When it was last read or stored.
        case lastUse
        /// When it was stored, however often it is read.
        case storing
    }

    /// The maximum number of bytes that the entries occupy. A cache on disk counts the blocks that the file system has
    /// allocated for them, not the lengths of their files. Zero or less stores nothing.
    public var maximumSize: Int
    /// The maximum number of entries. Zero or less stores nothing.
    public var maximumCount: Int
    /// How long an entry lives that has no expiry of its own; nil for ever. An entry of a date in the future counts as used
    /// now: nothing ends because a clock went back, or came forward again.
    public var maximumAge: Duration?
    /// What ``maximumAge`` is counted from.
    package var ageBasis: AgeBasis
    /// Whether a read of an entry with an expiry of its own moves that on by the time since its last use. Where the clock goes
    /// back, the expiry stays until it has come as far again; only a last use of more than a year ahead is not believed, and
    /// taken back with the expiry.
    package var extendsExpiryOnUse: Bool
    /// The share of the limits that a trim leaves, from nought to 1: a trim that left all of it would be needed again at
    /// once.
    package var trimTarget: Double

    /// - Parameters:
    ///   - maximumSize: In bytes. Default: 256 MiB.
    ///   - maximumCount: Default: no limit of its own.
    ///   - maximumAge: Default: seven days, as Kingfisher and SDWebImage have it.
    ///   - ageBasis: Default: the last use.
    ///   - extendsExpiryOnUse: Default: false.
    ///   - trimTarget: Default: nine tenths. Kingfisher leaves a half, Nuke seven tenths.
    public init(
        maximumSize: Int = 256 << 20, maximumCount: Int = .max, maximumAge: Duration? = .seconds(7 * 24 * 60 * 60),
        ageBasis: AgeBasis = .lastUse, extendsExpiryOnUse: Bool = false, trimTarget: Double = 0.9
    ) {
        self.maximumSize = maximumSize
        self.maximumCount = maximumCount
        self.maximumAge = maximumAge
        self.ageBasis = ageBasis
        self.extendsExpiryOnUse = extendsExpiryOnUse
        self.trimTarget = trimTarget
    }

    /// The maximum number of bytes after a trim.
    package var sizeAfterTrim: Int { Self.share(trimTarget, of: maximumSize) }

    /// The maximum number of entries after a trim.
    package var countAfterTrim: Int { Self.share(trimTarget, of: maximumCount) }

    private static func share(_ share: Double, of limit: Int) -> Int {
        guard !(share >= 1), limit > 0 else { return max(0, limit) }
        // A share that is no number leaves nothing.
        guard share > 0 else { return 0 }
        return Int(exactly: (Double(limit) * share).rounded(.down)) ?? limit
    }
}

extension DataCacheLimits {
    /// How far ahead the date of a last use may be and still be believed, in milliseconds: a year.
    ///
    /// A clock that is set back by a battery's end, and forward again by the network, must not make entries old that were
    /// used between. What a clock wrong the other way has left must grow old some day.
    private static let maximumClockLead: Int64 = 365 * 24 * 60 * 60 * 1000

    /// Whether an entry's time is over. A date in the future counts as now: the clock has gone back since, or will.
    package func isOver(storedAt: Timestamp, lastUse: Timestamp, expiry: Timestamp?, now: Timestamp) -> Bool {
        if let expiry { return now >= expiry }
        guard let maximumAge else { return false }
        // What was stored in the future counts by its last use: else it would stay until then.
        let start = storedAt > now ? lastUse : ageBasis == .lastUse ? max(lastUse, storedAt) : storedAt
        return Double(now.milliseconds - start.milliseconds) >= maximumAge / .milliseconds(1)
    }

    /// The date of the last use of an entry that is used now: a clock that goes back makes it no earlier, by less than a
    /// year.
    package func lastUse(_ lastUse: Timestamp, usedAt now: Timestamp) -> Timestamp {
        lastUse.milliseconds - now.milliseconds > Self.maximumClockLead ? now : max(lastUse, now)
    }

    /// The expiry of an entry that is used now: it moves as far as the date of the last use does.
    package func expiry(_ expiry: Timestamp?, after lastUse: Timestamp, usedAt now: Timestamp) -> Timestamp? {
        guard extendsExpiryOnUse, let expiry else { return expiry }
        let moved = self.lastUse(lastUse, usedAt: now).milliseconds - lastUse.milliseconds
        return Timestamp(milliseconds: expiry.milliseconds + moved)
    }
}

/// A date as files keep it: whole milliseconds since 1970.
package struct Timestamp: Comparable, Sendable {
    /// Either way; 30,000 years. A difference of two dates never overflows.
    private static let limit: Int64 = 1_000_000_000_000_000

    package let milliseconds: Int64

    /// A date that is out of reach counts as the last one within it.
    package init(milliseconds: Int64) { self.milliseconds = max(-Self.limit, min(Self.limit, milliseconds)) }

    package init(_ date: Date) {
        let value = (date.timeIntervalSince1970 * 1000).rounded()
        let limit = Double(Self.limit)
        milliseconds = Int64(max(-limit, min(limit, value.isNaN ? limit : value)))
    }

    package var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    package static func < (a: Self, b: Self) -> Bool { a.milliseconds < b.milliseconds }
}
