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
        /// How long each read of the disk took that found an image or its bytes; their number is its `count`.
        public var diskHits = DurationHistogram()
        /// Reads that the disk did not answer, by reason.
        public var diskMisses: [CacheMissReason: Int] = [:]
        /// Bytes that were read from disk.
        public var diskReadByteCount = 0
        /// Stores on disk that failed.
        public var diskWriteFailures = 0
        /// How long each download took, those that a response cache answered included; their number is its `count`.
        public var downloads = DurationHistogram()
        /// The downloads that a response cache answered.
        public var responseCacheHits = 0
        /// Bytes that the downloader brought.
        public var downloadedByteCount = 0
        /// Loads that were not answered from memory, by their ends.
        public var finished = 0
        /// Those that ended with an error.
        public var failed = 0
        /// Those that everybody left.
        public var cancelled = 0
        /// How long each decode took.
        public var decodes = DurationHistogram()
        /// How long each processing step took.
        public var processingSteps = DurationHistogram()

        package init() {}

        /// One line for a log, such as `finished 12, failed 1, cancelled 0; memory 3 of 15, disk 2 of 12, downloads 10
        /// (5120 bytes)`, with the hits of a cache among the look-ups in it.
        public var description: String {
            let memory = Self.hits(memoryHits, memoryMisses)
            let disk = Self.hits(diskHits.count, diskMisses)
            return "finished \(finished), failed \(failed), cancelled \(cancelled); memory \(memory), disk \(disk), "
                + "downloads \(downloads.count) (\(downloadedByteCount) bytes)"
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
                counts.diskHits.add(event.duration)
                counts.diskReadByteCount += bytes
            case .diskMiss(let reason): counts.diskMisses[reason, default: 0] += 1
            case .diskWriteFailed: counts.diskWriteFailures += 1
            case .downloaded(let bytes, let source):
                counts.downloads.add(event.duration)
                if let source, source != .new { counts.responseCacheHits += 1 }
                counts.downloadedByteCount += bytes
            case .decoded: counts.decodes.add(event.duration)
            case .processed: counts.processingSteps.add(event.duration)
            case .finished: counts.finished += 1
            case .failed: counts.failed += 1
            case .cancelled: counts.cancelled += 1
            }
        }
    }
}
