public import FoundationEssentials

/// Keeps encoded bytes, usually on disk.
///
/// Calls may come from any task at the same time and never block the cooperative pool. An entry is found whole and as
/// it was stored, or not at all: damage is a miss.
public protocol DataCaching: Sendable {
    /// Returns what is stored under `key`, and counts as a use of it. Trouble with the storage is a miss.
    func entry(for key: ImageKey) async -> CachedData?
    /// Whether something is stored under `key`. Not a use. The bytes are not verified.
    func contains(_ key: ImageKey) async -> Bool
    /// Stores `entry` under `key`, replacing what is there. When it returns, the entry can be read.
    ///
    /// An entry whose expiry has passed is not stored, and what stood under `key` goes; that is no error.
    ///
    /// - Throws: ``DataCacheError``, or `CancellationError`. What was there before may then be gone, never damaged.
    func store(_ entry: CachedData, for key: ImageKey) async throws
    /// Removes what is stored under `key`. Returns whether there was anything.
    @discardableResult func remove(_ key: ImageKey) async -> Bool
    /// Removes the original and every variant of a resource. Returns how many entries that were.
    @discardableResult func removeAll(of resource: ResourceKey) async -> Int
    /// Removes everything.
    func removeAll() async
    /// Returns when everything that was asked for before has been done, and the limits hold.
    func flush() async
    /// Bytes that the entries occupy in the storage, the cache's own notes included.
    var totalSize: Int { get async }
    /// Number of entries.
    var count: Int { get async }
}

extension DataCaching {
    /// Returns the bytes stored under `key`. Counts as a use, as `entry(for:)` does.
    public func data(for key: ImageKey) async -> Data? { await entry(for: key)?.data }

    /// Stores bytes without notes. Throws as ``store(_:for:)`` does.
    public func store(_ data: Data, for key: ImageKey) async throws { try await store(CachedData(data), for: key) }

    /// Nothing to do for a cache whose calls do all of their work before they return.
    public func flush() async {}
}
