package import FoundationEssentials

/// A date with the precision of the cache files: whole milliseconds since 1970.
package struct Timestamp: Comparable, Sendable {
    /// The largest distance from 1970 in either direction, in milliseconds: more than 30,000 years. The difference of
    /// two dates never overflows.
    private static let limit: Int64 = 1_000_000_000_000_000

    package let milliseconds: Int64

    /// Creates a date, clamped to the representable range.
    package init(milliseconds: Int64) { self.milliseconds = max(-Self.limit, min(Self.limit, milliseconds)) }

    /// Creates a date, rounded to the millisecond and clamped to the representable range. NaN becomes the latest date.
    package init(_ date: Date) {
        let value = (date.timeIntervalSince1970 * 1000).rounded()
        let limit = Double(Self.limit)
        milliseconds = Int64(max(-limit, min(limit, value.isNaN ? limit : value)))
    }

    package var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    package static func < (a: Self, b: Self) -> Bool { a.milliseconds < b.milliseconds }
}
