public import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// Counts what a pipeline does. Memory for it is fixed, however long it runs.
public final class PipelineMetrics: PipelineObserving, CustomStringConvertible {
    /// What was counted up to some moment.
    public struct Snapshot: Sendable, CustomStringConvertible {
        /// Images found in memory.
        public var memoryHits = 0
        /// Look-ups that memory did not answer, by reason.
        public var memoryMisses: [CacheMissReason: Int] = [:]
        /// Images and bytes found on disk.
        public var diskHits = 0
        /// Reads that the disk did not answer, by reason.
        public var diskMisses: [CacheMissReason: Int] = [:]
        /// Bytes that were read from disk.
        public var diskReadByteCount = 0
        /// Stores on disk that failed.
        public var diskWriteFailures = 0
        /// Contents that the downloader brought, and those of them that a response cache had.
        public var downloads = 0
        /// Downloads that a response cache answered.
        public var responseCacheHits = 0
        /// Bytes that the downloader brought.
        public var downloadedByteCount = 0
        /// Loads that were not answered from memory, by their ends.
        public var finished = 0
        /// Those that ended with an error.
        public var failed = 0
        /// Those that everybody left.
        public var cancelled = 0
        /// How long each read of the disk took that found something.
        public var diskTimes = DurationHistogram()
        /// How long each download took.
        public var downloadTimes = DurationHistogram()
        /// How long each decode took.
        public var decodingTimes = DurationHistogram()
        /// How long each processing step took.
        public var processingTimes = DurationHistogram()

        package init() {}

        /// One line for a log, such as `finished 12, failed 1, cancelled 0; memory 3 of 15, disk 2 of 12, downloads 10
        /// (5120 bytes)`, with the hits of a cache among the look-ups in it.
        public var description: String {
            let memory = Self.hits(memoryHits, memoryMisses)
            let disk = Self.hits(diskHits, diskMisses)
            return "finished \(finished), failed \(failed), cancelled \(cancelled); memory \(memory), disk \(disk), "
                + "downloads \(downloads) (\(downloadedByteCount) bytes)"
        }

        private static func hits(_ hits: Int, _ misses: [CacheMissReason: Int]) -> String {
            "\(hits) of \(hits + misses.values.reduce(0, +))"
        }
    }

    private let state = Locked(Snapshot())

    /// Counts from zero.
    public init() {}

    /// What was counted up to now, at one moment.
    public var snapshot: Snapshot { state.withLock { $0 } }

    /// The ``snapshot`` in one line.
    public var description: String { snapshot.description }

    public func pipelineDidReport(_ event: PipelineEvent) {
        state.withLock { counts in
            switch event.stage {
            case .memoryHit: counts.memoryHits += 1
            case .memoryMiss(let reason): counts.memoryMisses[reason, default: 0] += 1
            case .diskHit(let bytes):
                counts.diskHits += 1
                counts.diskReadByteCount += bytes
                counts.diskTimes.add(event.duration)
            case .diskMiss(let reason): counts.diskMisses[reason, default: 0] += 1
            case .diskWriteFailed: counts.diskWriteFailures += 1
            case .downloaded(let bytes, let source):
                counts.downloads += 1
                if let source, source != .new { counts.responseCacheHits += 1 }
                counts.downloadedByteCount += bytes
                counts.downloadTimes.add(event.duration)
            case .decoded: counts.decodingTimes.add(event.duration)
            case .processed: counts.processingTimes.add(event.duration)
            case .finished: counts.finished += 1
            case .failed: counts.failed += 1
            case .cancelled: counts.cancelled += 1
            }
        }
    }
}

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
