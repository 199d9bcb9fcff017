public import AlcedoRuntime
public import FoundationEssentials

/// A cache for encoded bytes, usually on disk.
///
/// Methods may be called concurrently from any task and never block the cooperative thread pool. A cache returns an
/// entry exactly as stored, or nil: a damaged entry is a miss.
public protocol DataCaching: Sendable {
    /// Returns the entry stored under `key`, and records a use of it. Returns nil when the storage fails.
    func entry(for key: ImageKey) async -> CachedData?
    /// Whether an entry is stored under `key`. Does not record a use and does not verify the bytes.
    func contains(_ key: ImageKey) async -> Bool
    /// Stores `entry` under `key`, replacing any existing entry. The entry can be read when the method returns.
    ///
    /// An entry whose expiry has passed is not stored. The existing entry is removed, and no error is thrown.
    ///
    /// - Throws: ``DataCacheError``, or `CancellationError`. After an error, the previous entry may be missing, but is
    ///   never damaged.
    func store(_ entry: CachedData, for key: ImageKey) async throws
    /// Removes the entry stored under `key`. Returns whether there was an entry.
    @discardableResult func remove(_ key: ImageKey) async -> Bool
    /// Removes the original and every variant of a resource. Returns the number of removed entries.
    @discardableResult func removeAll(of resource: ResourceKey) async -> Int
    /// Removes all entries.
    func removeAll() async
    /// Returns when all earlier calls have completed and the limits hold. Default: returns at once, for caches that
    /// complete each call before it returns.
    func flush() async
}

/// A data cache that reports its size and number of entries.
public protocol MeasurableDataCache: DataCaching {
    /// The number of bytes that the entries occupy in the storage, including the cache's own records.
    var totalSize: Int { get async }
    /// The number of entries.
    var count: Int { get async }
    /// The operations that list and trim the entries; nil for a cache without them. A cache that wraps another one can
    /// return those of the other. Default: nil, and the cache itself if it is a ``MaintainableDataCache``.
    var maintenance: (any MaintainableDataCache)? { get }
}

extension MeasurableDataCache {
    /// Nil, for a cache whose entries cannot be listed and trimmed.
    public var maintenance: (any MaintainableDataCache)? { nil }
}

extension DataCaching {
    /// Returns the bytes stored under `key`, and records a use as `entry(for:)` does.
    package func data(for key: ImageKey) async -> Data? { await entry(for: key)?.data }

    /// Stores bytes without metadata. Throws the errors of ``store(_:for:)``.
    package func store(_ data: Data, for key: ImageKey) async throws { try await store(CachedData(data), for: key) }

    /// Returns at once, for caches that complete each call before it returns.
    public func flush() async {}
}

/// Bytes in a data cache, with metadata and an optional expiry.
///
/// ```swift
/// let entry = CachedData(data, expiry: Date(timeIntervalSinceNow: 3_600))
/// try await cache.store(entry, for: key)
/// ```
public struct CachedData: Sendable, Hashable {
    /// The bytes that were stored.
    public var data: Data
    /// Metadata of the caller, such as the head of a response. The cache does not interpret it.
    public var metadata: Data
    /// The date from which the entry is treated as missing, with millisecond precision; nil to apply the age limit of
    /// the cache.
    public var expiry: Date?

    /// Creates an entry. By default, it has no metadata, and the age limit of the cache applies.
    public init(_ data: Data, metadata: Data = Data(), expiry: Date? = nil) {
        self.data = data
        self.metadata = metadata
        self.expiry = expiry
    }
}

/// An error of a data cache that could not store or maintain entries.
public struct DataCacheError: CodedError, Hashable {
    /// The kind of failure.
    public enum Code: String, Sendable {
        /// The directory cannot be created or written.
        case notWritable
        /// The storage is full.
        case noSpace
        /// The entry exceeds the size limit of the cache.
        case tooLarge
        /// Any other failure; the message describes it.
        case failed
    }

    /// The kind of failure.
    public var code: Code
    /// A description of the failure in one sentence, for logs.
    package var message: String

    /// Creates an error, for caches outside this package.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// The extent to which a disk cache's entries survive a power failure. All stored entries survive the end of the
/// process.
public enum Durability: Sendable, Hashable {
    /// Entries survive once the system has written them: usually all except those of the last 30 seconds. A partially
    /// written entry is never returned.
    case none
    /// The bytes of an entry are on the medium (`fdatasync`) before the entry becomes visible. Its name may be written
    /// later.
    case entry
    /// The name is also on the medium before the store returns (`fdatasync` of the entry's directory and of the cache's
    /// directory). The cache's directory itself survives once the system has written its parent directory.
    case directory
}
