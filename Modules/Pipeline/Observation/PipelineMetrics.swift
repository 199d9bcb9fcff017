public import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// The numbers and durations of the steps of a pipeline, in a fixed amount of memory.
///
/// ```swift
/// let metrics = PipelineMetrics()
/// configuration.observers.append(metrics)
/// // After some loads:
/// print(metrics)
/// print(metrics.snapshot.downloads.percentile(0.95))
/// ```
public final class PipelineMetrics: PipelineObserving, CustomStringConvertible {
    /// The counts up to one moment.
    public struct Snapshot: Sendable, CustomStringConvertible {
        /// The number of loads that found their image in memory. Calls of ``ImagePipeline/cachedImage(for:)`` are not
        /// counted.
        public var memoryHits = 0
        /// The number of loads that did not find their image in memory, by reason.
        public var memoryMisses: [CacheMissReason: Int] = [:]
        /// The durations of disk reads that found an image or its bytes. Their number is the histogram's `count`.
        public var diskHits = DurationHistogram()
        /// The number of disk misses, by reason.
        public var diskMisses: [CacheMissReason: Int] = [:]
        /// The number of bytes read from disk.
        public var diskReadByteCount = 0
        /// The number of failed writes to disk.
        public var diskWriteFailures = 0
        /// The durations of downloads, including responses from a response cache and reads of local sources. Their
        /// number is the histogram's `count`.
        public var downloads = DurationHistogram()
        /// The number of downloads whose response came from a response cache.
        public var responseCacheHits = 0
        /// The number of bytes that the downloader returned.
        public var downloadedByteCount = 0
        /// The number of loads that ended with an image, not counting memory hits. For a request with
        /// ``/AlcedoCore/ImageRequest/showsCachedFirst``, the load from the source counts separately.
        public var finished = 0
        /// The number of loads that ended with an error. Includes a failed load from the source whose caller kept the
        /// cached image.
        public var failed = 0
        /// The number of loads that ended because all their callers had canceled.
        public var cancelled = 0
        /// The number of times that a load continued with an alternative source.
        public var alternatives = 0
        /// The durations of decodes.
        public var decodes = DurationHistogram()
        /// The durations of color conversions. Images that are in the requested color space already are not counted.
        public var colorConversions = DurationHistogram()
        /// The number of images whose ICC profile was unusable.
        public var ignoredColorProfiles = 0
        /// The durations of processing steps.
        public var processingSteps = DurationHistogram()

        package init() {}

        /// A line for a log, such as `finished 12, failed 1, canceled 0; memory 3 of 15, disk 2 of 12, downloads 10
        /// (5120 bytes)`. The numbers of a cache are its hits and its lookups.
        public var description: String {
            let memory = Self.hits(memoryHits, memoryMisses)
            let disk = Self.hits(diskHits.count, diskMisses)
            return "finished \(finished), failed \(failed), canceled \(cancelled); memory \(memory), disk \(disk), "
                + "downloads \(downloads.count) (\(downloadedByteCount) bytes)"
        }

        private static func hits(_ hits: Int, _ misses: [CacheMissReason: Int]) -> String {
            "\(hits) of \(hits + misses.values.reduce(0, +))"
        }
    }

    private let state = Locked(Snapshot())

    /// Creates an observer whose counts are zero.
    public init() {}

    /// The counts up to now, as a consistent copy.
    public var snapshot: Snapshot { state.withLock { $0 } }

    /// The ``snapshot`` as one line.
    public var description: String { snapshot.description }

    /// Counts a step.
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
            case .colorConverted: counts.colorConversions.add(event.duration)
            case .colorProfileIgnored: counts.ignoredColorProfiles += 1
            case .processed: counts.processingSteps.add(event.duration)
            case .finished: counts.finished += 1
            case .failed: counts.failed += 1
            case .cancelled: counts.cancelled += 1
            case .alternative: counts.alternatives += 1
            }
        }
    }
}
