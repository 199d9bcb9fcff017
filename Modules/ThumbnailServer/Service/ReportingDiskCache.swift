import Alcedo
import AlcedoRuntime
import FoundationEssentials

/// A report that a disk is full or cannot be written. Only the first failure is reported, because the store of each
/// thumbnail and each original would fail again.
final class DiskFailureReport: Sendable {
    private let directory: URL?
    private let log: @Sendable (String) -> Void
    private let isDone = Locked(false)

    /// Creates a report about a directory. `log` receives its text, at most once.
    init(_ directory: URL?, _ log: @escaping @Sendable (String) -> Void) {
        (self.directory, self.log) = (directory, log)
    }

    func add(_ error: any Error) {
        // A cache throws any error. Others than this one, such as a cancellation, say nothing about the disk.
        guard let error = error as? DataCacheError, error.code != .tooLarge else { return }
        let isFirst = isDone.withLock { isDone in
            defer { isDone = true }
            return !isDone
        }
        guard isFirst else { return }
        log("caching in \(directory?.path ?? "the cache directory") is limited: \(error.message)")
    }
}

/// A disk cache whose first failed store is reported.
struct ReportingDiskCache: MeasurableDataCache {
    let cache: FileDiskCache
    let report: DiskFailureReport

    func store(_ entry: CachedData, for key: ImageKey) async throws {
        do {
            try await cache.store(entry, for: key)
        } catch {
            report.add(error)
            throw error
        }
    }

    var totalSize: Int { get async { await cache.totalSize } }
    var count: Int { get async { await cache.count } }
    func entry(for key: ImageKey) async -> CachedData? { await cache.entry(for: key) }
    func contains(_ key: ImageKey) async -> Bool { await cache.contains(key) }
    func remove(_ key: ImageKey) async -> Bool { await cache.remove(key) }
    func removeAll(of resource: ResourceKey) async -> Int { await cache.removeAll(of: resource) }
    func removeAll() async { await cache.removeAll() }
    func flush() async { await cache.flush() }
}
