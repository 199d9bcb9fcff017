public import AlcedoCore

/// What has become of what was to be prefetched: of each kind the last, at most as many as may wait.
public struct PrefetchReport: Sendable {
    /// What was loaded.
    public var loaded: [ImageRequest] = []
    /// What was there already, and what there was no room to remember.
    public var skipped: [ImageRequest] = []
    /// What could not be loaded, and why.
    public var failed: [(request: ImageRequest, error: any Error)] = []

    /// Nothing prefetched yet.
    public init() {}

    mutating func shorten(to limit: Int) {
        // Not at each one that comes, or each would move all others.
        guard max(loaded.count, skipped.count, failed.count) >= 2 * limit + 1 else { return }
        keepLast(limit)
    }

    mutating func keepLast(_ limit: Int) {
        loaded.removeFirst(max(0, loaded.count - limit))
        skipped.removeFirst(max(0, skipped.count - limit))
        failed.removeFirst(max(0, failed.count - limit))
    }
}
