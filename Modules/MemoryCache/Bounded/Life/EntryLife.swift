/// How long an entry lives, in the units of ``CacheTime``.
@usableFromInline
struct EntryLife: Sendable {
    /// When the entry's time is over, by the clock's uptime; `Int64.max` for never.
    @usableFromInline var deadline = Int64.max
    /// By how much a use moves the deadline; 0 for not at all.
    @usableFromInline var spanOfUse = Int64(0)

    /// Without end.
    @inlinable
    init() {}

    @inlinable
    init(from now: Int64, for span: Int64, isExtendedByUse: Bool) {
        deadline = Self.deadline(from: now, for: span)
        spanOfUse = isExtendedByUse ? span : 0
    }

    @inlinable var isMortal: Bool { deadline < .max }

    @inlinable
    func isOver(at now: Int64) -> Bool { deadline <= now }

    /// Notes a use.
    @inlinable
    mutating func extend(from now: Int64) {
        if spanOfUse > 0 { deadline = Self.deadline(from: now, for: spanOfUse) }
    }

    @inlinable
    static func deadline(from now: Int64, for span: Int64) -> Int64 {
        let (deadline, overflows) = now.addingReportingOverflow(span)
        return overflows ? .max - 1 : deadline
    }
}
