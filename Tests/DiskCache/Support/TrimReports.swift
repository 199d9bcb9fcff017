import AlcedoCore
import AlcedoTesting
import TestSupport

/// Receives the trim reports of a cache and waits for them.
final class TrimReports: Sendable {
    private let reports = Watched<[DataCacheTrimReport]>([])
    private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

    var all: [DataCacheTrimReport] { reports.value }

    var removals: [DataCacheItem] { all.flatMap(\.removals) }

    /// The closure for the cache.
    func add(_ report: DataCacheTrimReport) {
        reports.update { $0.append(report) }
        continuation.yield()
    }

    /// Returns once the reports contain this many removals. For one task.
    func waitForRemovals(count: Int) async {
        if removals.count >= count { return }
        for await _ in stream where removals.count >= count { return }
    }
}
