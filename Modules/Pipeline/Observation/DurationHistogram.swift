/// A histogram of durations, with eight steps per octave from 1 ns to 2^43 ns (2.4 hours). Its size is fixed, about 3
/// KB.
///
/// ```swift
/// let downloads = metrics.snapshot.downloads
/// print("\(downloads.count) downloads, 95 % within \(downloads.percentile(0.95))")
/// ```
public struct DurationHistogram: Sendable {
    private static let stepsPerOctave = 8
    private static let octaves = 43

    /// The number of added durations.
    public private(set) var count = 0
    /// The sum of the added durations.
    public private(set) var total = Duration.zero
    private var longest = Duration.zero
    private var counts = [Int](repeating: 0, count: stepsPerOctave * octaves)

    /// Creates an empty histogram.
    package init() {}

    /// Adds a duration.
    ///
    /// - Complexity: O(1).
    package mutating func add(_ duration: Duration) {
        count += 1
        total += duration
        longest = max(longest, duration)
        counts[Self.step(of: duration)] += 1
    }

    /// Returns an upper bound for the given fraction of the durations: with 0.95, at least 95 % of them are not longer.
    /// The result is at most an eighth too long. A result above 2.4 hours is always the longest duration. The result is
    /// zero for an empty histogram.
    ///
    /// - Parameter part: The fraction, from 0 to 1. The result for 1 is the longest duration, exactly. Values outside
    ///   this range are clamped, and NaN counts as zero.
    public func percentile(_ part: Double) -> Duration {
        guard count > 0 else { return .zero }
        // NaN fails this comparison and counts as zero.
        let rank = part > 0 ? max(1, Int((min(part, 1) * Double(count)).rounded(.up))) : 1
        var seen = 0
        for (step, count) in counts.enumerated() {
            seen += count
            // The last step has no end, because it also counts all longer durations.
            guard seen < rank else { return step == counts.indices.last ? longest : min(longest, Self.end(of: step)) }
        }
        return longest
    }

    /// Returns the step of a duration. Each octave begins at a power of two, in nanoseconds, and is divided into eight
    /// equal steps, so that no logarithm is needed.
    private static func step(of duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        guard seconds < 1 << 32 else { return stepsPerOctave * octaves - 1 }
        let nanoseconds = max(1, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        let octave = nanoseconds.bitWidth - 1 - nanoseconds.leadingZeroBitCount
        let eighth = octave >= 3 ? Int(nanoseconds >> (octave - 3)) & 7 : Int(nanoseconds << (3 - octave)) & 7
        return min(octave * stepsPerOctave + eighth, stepsPerOctave * octaves - 1)
    }

    private static func end(of step: Int) -> Duration {
        let (octave, eighth) = step.quotientAndRemainder(dividingBy: stepsPerOctave)
        return .nanoseconds(((1 << octave) * (9 + eighth) + 7) / 8)
    }
}
