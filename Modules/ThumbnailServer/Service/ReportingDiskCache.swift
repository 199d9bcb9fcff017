import Alcedo
import AlcedoRuntime
import FoundationEssentials

/// Reports that a disk is full or cannot be written, and that it works again: one line for a change, and at most one a
/// minute, because the store of each thumbnail and each original may have another outcome. A disk works again if no
/// store has failed for a minute.
final class DiskReport: Sendable {
    private struct State: Sendable {
        /// Whether the last line said that the disk has failed.
        var hasFailed = false
        /// The uptime of the last line; nil before the first one.
        var lastLine: Duration?
        /// The uptime of the last failure.
        var lastFailure = Duration.zero
    }

    private static let interval = Duration.seconds(60)

    private let name: String
    private let clock: any TimeSource
    private let log: @Sendable (String) -> Void
    private let state = Locked(State())

    /// Creates a report about a directory. `log` receives its lines.
    init(_ directory: URL?, clock: any TimeSource, _ log: @escaping @Sendable (String) -> Void) {
        (name, self.clock, self.log) = (directory?.path ?? "the cache directory", clock, log)
    }

    /// Records that an entry could not be stored, or that others were removed for it.
    func recordFailure(_ error: any Error) {
        // A cache throws any error. Others than this one, such as a cancellation, say nothing about the disk.
        guard let error = error as? DataCacheError, error.code != .tooLarge else { return }
        let isDue = state.withLock { state in
            let now = clock.uptime
            state.lastFailure = now
            guard !state.hasFailed, state.lastLine.map({ now - $0 >= Self.interval }) ?? true else { return false }
            (state.hasFailed, state.lastLine) = (true, now)
            return true
        }
        if isDue { log("caching in \(name) is limited: \(error.message)") }
    }

    /// Records that an entry was stored.
    func recordSuccess() {
        let isDue = state.withLock { state in
            let now = clock.uptime
            guard state.hasFailed, now - state.lastFailure >= Self.interval else { return false }
            (state.hasFailed, state.lastLine) = (false, now)
            return true
        }
        if isDue { log("caching in \(name) works again") }
    }
}

/// A disk cache whose state is reported.
struct ReportingDiskCache: MeasurableDataCache {
    let cache: FileDiskCache
    let report: DiskReport

    func store(_ entry: CachedData, for key: ImageKey) async throws {
        do {
            try await cache.store(entry, for: key)
        } catch {
            report.recordFailure(error)
            throw error
        }
        report.recordSuccess()
    }

    var totalSize: Int { get async { await cache.totalSize } }
    var count: Int { get async { await cache.count } }
    func entry(for key: ImageKey) async -> CachedData? { await cache.entry(for: key) }
    func contains(_ key: ImageKey) async -> Bool { await cache.contains(key) }
    func metadata(for key: ImageKey) async -> Data? { await cache.metadata(for: key) }
    func remove(_ key: ImageKey) async -> Bool { await cache.remove(key) }
    func removeAll(of resource: ResourceKey) async -> Int { await cache.removeAll(of: resource) }
    func removeAll() async { await cache.removeAll() }
    func flush() async { await cache.flush() }
}
