package import FoundationEssentials

/// A date as files keep it: whole milliseconds since 1970.
package struct Timestamp: Comparable, Sendable {
    /// Either way; 30,000 years. A difference of two dates never overflows.
    private static let reach: Int64 = 1_000_000_000_000_000

    package let milliseconds: Int64

    /// A date that is out of reach counts as the last one within it.
    package init(milliseconds: Int64) { self.milliseconds = max(-Self.reach, min(Self.reach, milliseconds)) }

    package init(_ date: Date) {
        let value = (date.timeIntervalSince1970 * 1000).rounded()
        let reach = Double(Self.reach)
        milliseconds = Int64(max(-reach, min(reach, value.isNaN ? reach : value)))
    }

    package var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    package static func < (a: Self, b: Self) -> Bool { a.milliseconds < b.milliseconds }
}
