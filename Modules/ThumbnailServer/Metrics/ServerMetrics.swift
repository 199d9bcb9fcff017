import Alcedo
import AlcedoRuntime

/// The metrics of the server. Their memory is bounded, because the server itself creates all statuses that it counts.
final class ServerMetrics: Sendable {
    struct Counts: Sendable {
        var statuses: [Int: Int] = [:]
        var disconnects = 0
        var shed = 0
        var sentByteCount = 0
        var thumbnails: [ThumbnailGenerator.Source: Int] = [:]
        var durations = LatencyHistogram()
    }

    private let counts = Locked(Counts())

    var current: Counts { counts.withLock { $0 } }

    func recordThumbnail(from source: ThumbnailGenerator.Source) {
        counts.withLock { $0.thumbnails[source, default: 0] += 1 }
    }

    func shed() { counts.withLock { $0.shed += 1 } }

    /// Records the end of a request. The status is nil if the client disconnected. The duration is nil if the request
    /// was not for a thumbnail.
    func requestEnded(status: Int?, byteCount: Int, duration: Duration?) {
        counts.withLock { counts in
            if let status { counts.statuses[status, default: 0] += 1 } else { counts.disconnects += 1 }
            counts.sentByteCount += byteCount
            if let duration { counts.durations.add(duration) }
        }
    }

    /// Returns the metrics as text. The statistics of the shared store and of the sandbox are nil if there is none.
    func text(
        inFlight: Int, _ writeStatistics: ThumbnailCache.WriteStatistics, sharedStore: SharedStoreMonitor.Statistics?,
        sandbox: SandboxCounts? = nil, _ pipeline: PipelineMetrics.Snapshot
    ) -> String {
        let counts = current
        var text = PrometheusText()
        text.add(
            "thumbnail_requests_total", .counter, "Requests, by response status.", label: "status",
            counts.statuses.sorted { $0.key < $1.key }.map { (String($0.key), $0.value) })
        text.add(
            "thumbnail_clients_disconnected_total", .counter,
            "Requests whose client disconnected before the response was sent.",
            counts.disconnects)
        text.add("thumbnail_requests_in_flight", .gauge, "Thumbnail requests in progress.", inFlight)
        text.add("thumbnail_requests_shed_total", .counter, "Requests rejected because of load.", counts.shed)
        text.add("thumbnail_sent_bytes_total", .counter, "Response body bytes sent.", counts.sentByteCount)
        text.add(
            "thumbnail_responses_total", .counter, "Thumbnail responses, by source.", label: "source",
            ThumbnailGenerator.Source.allCases.map { ($0.rawValue, counts.thumbnails[$0] ?? 0) })
        text.add(
            "thumbnail_store_failures_total", .counter, "Thumbnails that could not be stored.", writeStatistics.failures
        )
        text.add(
            "thumbnail_store_dropped_total", .counter, "Thumbnails not stored because the write queue was full.",
            writeStatistics.dropped)
        text.add("thumbnail_store_pending", .gauge, "Thumbnails in the write queue.", writeStatistics.pending)
        if let sharedStore { Self.add(sharedStore, to: &text) }
        text.add(
            "thumbnail_originals_total", .counter, "Originals loaded, by source.",
            label: "source",
            [
                ("response_cache", pipeline.responseCacheHits),
                ("network", pipeline.downloads.count - pipeline.responseCacheHits),
            ])
        text.add("thumbnail_original_bytes_total", .counter, "Bytes of originals loaded.", pipeline.downloadedByteCount)
        text.add("thumbnail_decodes_total", .counter, "Originals decoded.", pipeline.decodes.count)
        text.add(
            "thumbnail_sandbox_enabled", .gauge, "1 if all originals are decoded in confined processes.",
            sandbox?.isComplete == true ? 1 : 0)
        if let sandbox { Self.add(sandbox, to: &text) }
        text.add(
            "thumbnail_loads_failed_total", .counter, "Originals that could not be loaded or decoded.", pipeline.failed)
        text.add("thumbnail_request_duration_seconds", "Duration of thumbnail requests.", counts.durations)
        return text.text
    }

    private static func add(_ sandbox: SandboxCounts, to text: inout PrometheusText) {
        text.add(
            "thumbnail_sandbox_failures_total", .counter, "Originals whose decoder failed in the sandbox, by reason.",
            label: "reason", sandbox.failures.map { ($0.reason, $0.count) })
        text.add(
            "thumbnail_sandbox_workers_started_total", .counter, "Processes of the sandbox started.",
            sandbox.startedWorkers)
        text.add(
            "thumbnail_sandbox_workers_recycled_total", .counter,
            "Processes of the sandbox replaced after many originals or because of their memory.",
            sandbox.recycledWorkers)
        text.add(
            "thumbnail_sandbox_workers_lost_total", .counter,
            "Idle processes of the sandbox that the kernel or another process ended.", sandbox.lostWorkers)
    }

    private static func add(_ sharedStore: SharedStoreMonitor.Statistics, to text: inout PrometheusText) {
        let statistics = sharedStore.statistics
        text.add(
            "thumbnail_redis_reads_total", .counter, "Thumbnails requested from Redis; a failure is a miss.",
            label: "result", [("hit", statistics.hits), ("miss", statistics.misses)])
        text.add(
            "thumbnail_redis_stores_total", .counter, "Thumbnails sent to Redis.", label: "result",
            [("stored", statistics.stores), ("failed", statistics.failures)])
        text.add(
            "thumbnail_redis_damaged_total", .counter, "Damaged entries found in Redis.", statistics.damagedEntries)
        text.add(
            "thumbnail_redis_failing", .gauge, "1 while Redis is not used because it failed repeatedly.",
            sharedStore.isFailing ? 1 : 0)
    }
}
