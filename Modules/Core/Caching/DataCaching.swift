public import FoundationEssentials

/// Keeps encoded bytes, usually on disk.
///
/// Calls may come from any task at the same time and never block the cooperative pool. An entry is found whole and as
/// it was stored, or not at all: damage is a miss.
public protocol DataCaching: Sendable {
    /// Returns what is stored under `key`, and counts as a use of it. Trouble with the storage is a miss.
    func entry(for key: ImageKey) async -> CachedData?
    /// Stores `entry` under `key`, replacing what is there. When it returns, the entry can be read.
    ///
    /// - Throws: ``DataCacheError``, or `CancellationError`. What was there before may then be gone, never damaged.
    func store(_ entry: CachedData, for key: ImageKey) async throws
    /// Removes what is stored under `key`. Returns whether there was anything.
    @discardableResult func remove(_ key: ImageKey) async -> Bool
    /// Removes everything.
    func removeAll() async
    /// Bytes that the entries occupy in the storage, the cache's own notes included.
    var totalSize: Int { get async }
}

extension DataCaching {
    /// Returns the bytes stored under `key`. Counts as a use, as `entry(for:)` does.
    public func data(for key: ImageKey) async -> Data? { await entry(for: key)?.data }

    /// Stores bytes without notes. Throws as ``store(_:for:)`` does.
    public func store(_ data: Data, for key: ImageKey) async throws { try await store(CachedData(data), for: key) }
}
