import Alcedo
import AlcedoRedisCache
import AlcedoRuntime

/// Looks after a store that several servers share: its numbers, and one line for people when it first takes nothing.
final class SharedStoreMonitor: Sendable {
    struct Statistics: Sendable {
        var statistics: DataCacheStatistics
        /// Whether the store failed so often that it is left alone for now.
        var isFailing: Bool
    }

    private let cache: RedisDataCache
    private let warn: @Sendable (String) -> Void
    private let hasWarned = Locked(false)

    /// - Parameter warn: Gets the line; called once at most.
    init(_ cache: RedisDataCache, warn: @escaping @Sendable (String) -> Void) {
        (self.cache, self.warn) = (cache, warn)
    }

    var current: Statistics { Statistics(statistics: cache.statistics, isFailing: cache.isServerFailing) }

    /// To be called when something was to be stored.
    func check() {
        guard cache.statistics.failures > 0 else { return }
        let isFirst = hasWarned.withLock { hasWarned in
            defer { hasWarned = true }
            return !hasWarned
        }
        guard isFirst else { return }
        warn(
            "Redis does not take pictures: it cannot be reached, refuses us or is full; the metrics tell how it goes on"
        )
    }
}
