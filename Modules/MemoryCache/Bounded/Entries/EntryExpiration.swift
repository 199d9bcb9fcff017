/// The expiration of an entry, in the units of ``CacheTime``.
@usableFromInline
struct EntryExpiration: Sendable {
    /// The uptime at which the entry expires; `Int64.max` for never.
    @usableFromInline var deadline = Int64.max
    /// The time to live that a use restarts; 0 if uses do not extend it.
    @usableFromInline var extensionSpan = Int64(0)

    /// Creates an expiration that never occurs.
    @inlinable
    init() {}

    @inlinable
    init(deadline: Int64, extensionSpan: Int64) { (self.deadline, self.extensionSpan) = (deadline, extensionSpan) }

    @inlinable
    init(from now: Int64, for span: Int64, isExtendedByUse: Bool) {
        deadline = Self.deadline(from: now, for: span)
        extensionSpan = isExtendedByUse ? span : 0
    }

    @inlinable var expires: Bool { deadline < .max }

    @inlinable
    func isExpired(at now: Int64) -> Bool { deadline <= now }

    /// Restarts the time to live, if uses extend it.
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

/// Conversions to the time unit of entries: 2^28 attoseconds, about a quarter of a nanosecond. With this unit, a lookup
/// needs a shift instead of a 128-bit division.
@usableFromInline
enum CacheTime {
    /// Converts a duration. The result is at most about 78 years, and less than `Int64.max`, which means never.
    @inlinable
    static func units(_ duration: Duration) -> Int64 { min(Int64(clamping: duration.attoseconds >> 28), .max - 1) }
}

/// The outcome of a lookup under the shared lock.
@usableFromInline
enum LookupOutcome: Sendable {
    /// The lookup is complete.
    case done
    /// The entry has a deadline, and the current time was not given.
    case needsTime
    /// The lookup must make a change that needs the exclusive lock, such as removing an expired entry.
    case needsToWrite
}
