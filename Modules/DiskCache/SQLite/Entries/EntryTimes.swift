import FoundationEssentials

/// When an entry was stored and used, and when its time is over. In milliseconds since 1970.
struct EntryTimes: Equatable, Sendable {
    var stored: Int64
    var used: Int64
    /// The entry's own; nil when only the cache's age limit counts.
    var expiry: Int64?
}

extension Int64 {
    /// Milliseconds since 1970 of a date; nil for one that is no number. Dates beyond some hundred thousand years are
    /// the last ones of these.
    init?(millisecondsOf date: Date) {
        let value = (date.timeIntervalSince1970 * 1_000).rounded()
        guard !value.isNaN else { return nil }
        self = Int64(Swift.min(Swift.max(value, -4e15), 4e15))
    }

    /// As a date, for numbers of milliseconds since 1970.
    var date: Date { Date(timeIntervalSince1970: Double(self) / 1_000) }
}
