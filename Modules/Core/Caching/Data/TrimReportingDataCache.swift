/// A data cache that tells which entries it removes to keep its limits.
public protocol TrimReportingDataCache: DataCaching {
    /// Calls `handler` after each trim that has removed entries: by limits, ages or a full disk, in the background or because
    /// a caller asked for it.
    ///
    /// The cache tells each removal once, and nothing of entries that callers remove, that are replaced or damaged, or that
    /// a read finds expired. It calls `handler` from any thread, outside its locks; a clean or trim that a caller asked for
    /// returns after it. Every trim is told at once, so nothing waits for `handler` and none is left out.
    ///
    /// - Returns: Keeps `handler` until it is released.
    func observeTrims(_ handler: @escaping @Sendable (DataCacheTrimReport) -> Void) -> DataCacheTrimObservation
}

/// A registration of a handler for the trims of a data cache, which ends when the last reference to it is released.
public final class DataCacheTrimObservation: Sendable {
    private let end: @Sendable () -> Void

    /// - Parameter end: Called once, when the registration ends.
    public init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
