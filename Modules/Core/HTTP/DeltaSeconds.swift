/// A number of seconds in a field. Source: RFC 9111 section 1.2.2.
package enum DeltaSeconds: Equatable {
    /// From 0 to ``limit``.
    case value(Int)
    /// Not one non-negative whole number.
    case invalid

    /// What larger numbers count as: 68 years.
    package static let limit = 1 << 31

    /// - Parameter text: Digits and nothing else.
    package init(_ text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            self = .invalid
            return
        }
        // No number only when there are more digits than an Int has.
        self = .value(min(Int(text) ?? Self.limit, Self.limit))
    }

    /// The number; 0 for an invalid one.
    package var orZero: Int { if case .value(let seconds) = self { seconds } else { 0 } }
}
