/// Counts durations in fixed steps, as Prometheus has it.
struct DurationBuckets: Sendable, Equatable {
    /// The ends of the steps, in seconds.
    static let ends = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

    /// In each step, the last being what is longer than all.
    private(set) var counts = [Int](repeating: 0, count: ends.count + 1)
    /// In seconds.
    private(set) var sum = 0.0

    mutating func add(_ duration: Duration) {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        counts[Self.ends.firstIndex { seconds <= $0 } ?? Self.ends.count] += 1
        sum += seconds
    }
}
