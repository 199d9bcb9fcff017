import Alcedo
import AlcedoRuntime

/// Counts what the server does. Memory for it is fixed: statuses are those that the server itself makes.
final class ServerMetrics: Sendable {
    struct Counts: Sendable {
        var statuses: [Int: Int] = [:]
        var departures = 0
        var shed = 0
        var sentByteCount = 0
        var answers: [ThumbnailMaker.Origin: Int] = [:]
        var durations = DurationBuckets()
    }

    private let counts = Locked(Counts())

    var current: Counts { counts.withLock { $0 } }

    func answered(from origin: ThumbnailMaker.Origin) { counts.withLock { $0.answers[origin, default: 0] += 1 } }

    func shed() { counts.withLock { $0.shed += 1 } }

    /// - Parameter duration: Nil for what is no picture.
    func ended(status: Int?, byteCount: Int, duration: Duration?) {
        counts.withLock { counts in
            if let status { counts.statuses[status, default: 0] += 1 } else { counts.departures += 1 }
            counts.sentByteCount += byteCount
            if let duration { counts.durations.add(duration) }
        }
    }

    /// - Parameter sharing: Of the store that other servers use, too; nil: there is none.
    func text(
        inFlight: Int, _ storing: AnswerStore.Storing, sharing: SharedStoreWatch.Numbers?,
        _ pipeline: PipelineMetrics.Snapshot
    ) -> String {
        let counts = current
        var text = PrometheusText()
        text.add(
            "thumbnail_requests_total", .counter, "Requests that were answered, by status.", label: "status",
            counts.statuses.sorted { $0.key < $1.key }.map { (String($0.key), $0.value) })
        text.add(
            "thumbnail_clients_gone_total", .counter, "Requests whose client went before the answer was out.",
            counts.departures)
        text.add("thumbnail_requests_in_flight", .gauge, "Pictures that are being made or waited for.", inFlight)
        text.add("thumbnail_requests_shed_total", .counter, "Requests that were sent away under load.", counts.shed)
        text.add("thumbnail_sent_bytes_total", .counter, "Bytes of bodies that were sent.", counts.sentByteCount)
        text.add(
            "thumbnail_answers_total", .counter, "Pictures, by where they came from.", label: "from",
            ThumbnailMaker.Origin.allCases.map { ($0.rawValue, counts.answers[$0] ?? 0) })
        text.add("thumbnail_store_failures_total", .counter, "Pictures that the store did not take.", storing.failures)
        text.add(
            "thumbnail_store_dropped_total", .counter, "Pictures that were not stored, because too many waited.",
            storing.dropped)
        text.add("thumbnail_store_waiting", .gauge, "Pictures that wait for the store.", storing.waiting)
        if let sharing { Self.add(sharing, to: &text) }
        text.add(
            "thumbnail_originals_total", .counter, "Originals that were loaded, by where they came from.",
            label: "from",
            [
                ("responses", pipeline.responseCacheHits),
                ("network", pipeline.downloads.count - pipeline.responseCacheHits),
            ])
        text.add("thumbnail_original_bytes_total", .counter, "Bytes of originals.", pipeline.downloadedByteCount)
        text.add("thumbnail_decodes_total", .counter, "Originals that were decoded.", pipeline.decodes.count)
        text.add("thumbnail_loads_failed_total", .counter, "Originals that gave no picture.", pipeline.failed)
        text.add("thumbnail_request_duration_seconds", "How long requests for pictures took.", counts.durations)
        return text.text
    }

    private static func add(_ sharing: SharedStoreWatch.Numbers, to text: inout PrometheusText) {
        let statistics = sharing.statistics
        text.add(
            "thumbnail_redis_reads_total", .counter, "Pictures that Redis was asked for; a failure is a miss.",
            label: "result", [("hit", statistics.hits), ("miss", statistics.misses)])
        text.add(
            "thumbnail_redis_stores_total", .counter, "Pictures that Redis was given.", label: "result",
            [("stored", statistics.stores), ("failed", statistics.failures)])
        text.add(
            "thumbnail_redis_damaged_total", .counter, "Entries of Redis that were damaged.", statistics.damagedEntries)
        text.add(
            "thumbnail_redis_failing", .gauge, "1 while Redis is left alone because it failed.",
            sharing.isFailing ? 1 : 0)
    }
}
