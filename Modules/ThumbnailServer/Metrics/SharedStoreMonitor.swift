import Alcedo
import AlcedoRedisCache
import AlcedoRuntime

/// A monitor of a store that several servers share. It reports statistics, and warns once when the store first fails.
final class SharedStoreMonitor: Sendable {
    struct Statistics: Sendable {
        var statistics: CacheStatistics
        /// Whether the store is temporarily not used, because it failed repeatedly.
        var isFailing: Bool
    }

    private let cache: RedisDataCache
    private let warn: @Sendable (String) -> Void
    private let hasWarned = Locked(false)

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - cache: The store.
    ///   - warn: Receives the text of the warning. Called at most once.
    init(_ cache: RedisDataCache, warn: @escaping @Sendable (String) -> Void) {
        (self.cache, self.warn) = (cache, warn)
    }

    var current: Statistics { Statistics(statistics: cache.statistics, isFailing: cache.isServerFailing) }

    /// Warns if the store has failed for the first time. Call this method after each write.
    func check() {
        guard cache.statistics.failures > 0 else { return }
        let isFirst = hasWarned.withLock { hasWarned in
            defer { hasWarned = true }
            return !hasWarned
        }
        guard isFirst else { return }
        warn(
            "cannot store thumbnails in Redis: it is unreachable, full or rejects the commands; see /metrics"
        )
    }
}
