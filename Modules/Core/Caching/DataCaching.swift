public import FoundationEssentials

/// A cache for encoded bytes, usually on disk.
///
/// Methods may be called concurrently from any task and never block the cooperative thread pool. A cache returns the
/// bytes and the metadata of an entry exactly as stored, or nil: a damaged entry is a miss.
public protocol DataCaching: Sendable {
    /// Returns the entry stored under `key`, and records a use of it. Returns nil when the entry is missing, expired or
    /// damaged, or when the storage fails.
    func entry(for key: ImageKey) async -> CachedData?
    /// Whether an entry is stored under `key`. Does not record a use and does not verify the bytes.
    func contains(_ key: ImageKey) async -> Bool
    /// Returns the metadata of the entry stored under `key`, without its bytes. Returns nil when ``entry(for:)`` would,
    /// but need neither record a use nor verify the entry, so the metadata may be that of a damaged one.
    ///
    /// The pipeline asks for it to learn cheaply whether stored bytes have changed, and whether a resource varies. The
    /// default implementation reads the whole entry.
    func metadata(for key: ImageKey) async -> Data?
    /// Stores `entry` under `key`, replacing any existing entry. The entry can be read when the method returns.
    ///
    /// An entry whose expiry has passed is not stored. The existing entry is removed, and no error is thrown.
    ///
    /// - Throws: ``DataCacheError`` when the entry is too large or the storage fails, or `CancellationError` when the
    ///   task is canceled. After an error, the previous entry may be missing, but is never damaged.
    func store(_ entry: CachedData, for key: ImageKey) async throws
    /// Removes the entry stored under `key`. Returns whether an entry was removed; false when the storage fails.
    @discardableResult func remove(_ key: ImageKey) async -> Bool
    /// Removes the original and every variant of a resource. Returns the number of removed entries.
    @discardableResult func removeAll(of resource: ResourceKey) async -> Int
    /// Removes all entries.
    func removeAll() async
    /// Returns when all earlier calls have completed and the limits hold. The default implementation returns
    /// immediately. It is for caches whose methods return only when their work is complete.
    func flush() async
}

extension DataCaching {
    /// Returns the bytes stored under `key`, and records a use. Returns nil when ``entry(for:)`` does.
    package func data(for key: ImageKey) async -> Data? { await entry(for: key)?.data }

    /// Stores bytes without metadata. Throws the errors of ``store(_:for:)``.
    package func store(_ data: Data, for key: ImageKey) async throws { try await store(CachedData(data), for: key) }

    /// Returns the metadata of the whole entry, for caches that cannot read it alone.
    public func metadata(for key: ImageKey) async -> Data? { await entry(for: key)?.metadata }

    /// Returns immediately, for caches whose methods return only when their work is complete.
    public func flush() async {}
}
