/// How long an entry lives, in the units of ``CacheTime``.
@usableFromInline
struct EntryExpiration: Sendable {
    /// When the entry's time is over, by the clock's uptime; `Int64.max` for never.
    @usableFromInline var deadline = Int64.max
    /// By how much a use moves the deadline; 0 for not at all.
    @usableFromInline var extensionSpan = Int64(0)

    /// Without end.
    @inlinable
    init() {}

    @inlinable
    init(from now: Int64, for span: Int64, isExtendedByUse: Bool) {
        deadline = Self.deadline(from: now, for: span)
        extensionSpan = isExtendedByUse ? span : 0
    }

    @inlinable var expires: Bool { deadline < .max }

    @inlinable
    func isExpired(at now: Int64) -> Bool { deadline <= now }

    /// Records a use.
    @inlinable
    mutating func extend(from now: Int64) {
        if extensionSpan > 0 { deadline = Self.deadline(from: now, for: extensionSpan) }
    }

    @inlinable
    static func deadline(from now: Int64, for span: Int64) -> Int64 {
        let (deadline, overflows) = now.addingReportingOverflow(span)
        return overflows ? .max - 1 : deadline
    }
}

/// Time as entries keep it: in units of 2^28 attoseconds, about a quarter of a nanosecond, so that a look-up shifts where
/// it would else divide a number of 128 bits.
@usableFromInline
enum CacheTime {
    /// Clamped to what fits, 78 years, and below what stands for never.
    @inlinable
    static func units(_ duration: Duration) -> Int64 { min(Int64(clamping: duration.attoseconds >> 28), .max - 1) }
}

/// What a look-up among other readers could not do.
@usableFromInline
enum LookupOutcome: Sendable {
    /// It is done.
    case done
    /// The entry has a deadline, and the look-up was not told the time.
    case needsTime
    /// Something must be changed that only one thread may change, such as an entry that is too old.
    case needsToWrite
}
