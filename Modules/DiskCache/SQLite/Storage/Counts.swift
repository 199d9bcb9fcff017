import AlcedoCore

/// What a cache has counted, for all of its threads.
final class Counts: Sendable {
    private let counts = Locked(DataCacheStatistics())

    var statistics: DataCacheStatistics { counts.withLock { $0 } }

    func change(_ change: (inout DataCacheStatistics) -> Void) { counts.withLock { change(&$0) } }
}
