public import AlcedoCore

/// Counts what a pipeline does. Memory for it is fixed, however long it runs.
public final class PipelineMetrics: PipelineObserving {
    /// What was counted up to some moment.
    public struct Snapshot: Sendable {
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

        /// Nothing counted yet.
        public init() {}

        /// The part of look-ups that memory answered, from 0 to 1; nil before the first.
        public var memoryHitRatio: Double? {
            Self.ratio(memoryHits, memoryMisses.values.reduce(0, +))
        }

        /// The part of reads that the disk answered, from 0 to 1; nil before the first.
        public var diskHitRatio: Double? { Self.ratio(diskHits, diskMisses.values.reduce(0, +)) }

        private static func ratio(_ hits: Int, _ misses: Int) -> Double? {
            hits + misses > 0 ? Double(hits) / Double(hits + misses) : nil
        }
    }

    private let state = Locked(Snapshot())

    /// Counts from nought.
    public init() {}

    /// What was counted up to now, at one moment.
    public var snapshot: Snapshot { state.withLock { $0 } }

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
