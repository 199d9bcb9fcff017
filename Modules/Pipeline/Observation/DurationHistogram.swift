/// How long things took: counts in steps of an eighth of an octave, from a nanosecond to an hour. A fixed three kilobytes.
public struct DurationHistogram: Sendable {
    private static let stepsPerOctave = 8
    private static let octaves = 43

    /// How many durations were added.
    public private(set) var count = 0
    /// Their sum.
    public private(set) var total = Duration.zero
    /// The longest of them, exactly.
    public private(set) var longest = Duration.zero
    private var counts = [Int](repeating: 0, count: stepsPerOctave * octaves)

    /// Creates a histogram without durations.
    public init() {}

    /// Counts a duration. O(1).
    public mutating func add(_ duration: Duration) {
        count += 1
        total += duration
        longest = max(longest, duration)
        counts[Self.step(of: duration)] += 1
    }

    /// The duration that so large a part of all does not exceed; at most an eighth too long. Zero when there are none.
    ///
    /// - Parameter part: From 0 to 1; values outside count as the nearest.
    public func percentile(_ part: Double) -> Duration {
        guard count > 0 else { return .zero }
        // What is no number counts as nought.
        let rank = part > 0 ? max(1, Int((min(part, 1) * Double(count)).rounded(.up))) : 1
        var seen = 0
        for (step, count) in counts.enumerated() {
            seen += count
            if seen >= rank { return min(longest, Self.end(of: step)) }
        }
        return longest
    }

    /// 2^o nanoseconds and the next eighths of it, so that it takes no logarithm.
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
