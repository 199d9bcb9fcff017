public import AlcedoRuntime
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
    /// Returns when everything that was asked for before has been done, and the limits hold. Default: returns at once, for
    /// caches whose calls do all of their work before they return.
    func flush() async
}

/// A data cache that reports how much it stores.
public protocol MeasurableDataCache: DataCaching {
    /// The number of bytes that the entries occupy in the storage, including the cache's own records.
    var totalSize: Int { get async }
    /// The number of entries.
    var count: Int { get async }
}

extension DataCaching {
    /// Returns the bytes stored under `key`. Counts as a use, as `entry(for:)` does.
    package func data(for key: ImageKey) async -> Data? { await entry(for: key)?.data }

    /// Stores bytes without notes. Throws as ``store(_:for:)`` does.
    package func store(_ data: Data, for key: ImageKey) async throws { try await store(CachedData(data), for: key) }

    public func flush() async {}
}

/// Bytes in a data cache, with what the storer wants to know about them later.
public struct CachedData: Sendable, Hashable {
    /// The bytes that were stored.
    public var data: Data
    /// The storer's own notes, such as a response's head. Opaque to the cache.
    public var metadata: Data
    /// From when on the entry is not found any more; nil for as long as the cache's own limits say. Kept to the
    /// millisecond.
    public var expiry: Date?

    /// Bytes to store. By default without notes, and with the cache's own age limit.
    public init(_ data: Data, metadata: Data = Data(), expiry: Date? = nil) {
        self.data = data
        self.metadata = metadata
        self.expiry = expiry
    }
}

/// Why a cache could not store bytes, or not look after those that it has.
public struct DataCacheError: CodedError, Hashable {
    /// What kind of failure it is.
    public enum Code: String, Sendable {
        /// The directory cannot be made or written.
        case notWritable
        /// The storage is full.
        case noSpace
        /// The entry is larger than the cache.
        case tooLarge
        /// Anything else; the message says what.
        case failed
    }

    /// What callers branch on.
    public var code: Code
    /// One sentence, for logs.
    package var message: String

    /// An error of a cache's own.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// What survives a power cut, beside what survives the end of a process, which is all that was stored.
public enum Durability: Sendable, Hashable {
    /// What the system has written by itself: usually all but the last half a minute. Nothing torn is ever served.
    case none
    /// The bytes of an entry are on the medium before it takes its place (`fdatasync`). Its name may come later.
    case entry
    /// The name is on the medium too (`fdatasync` of the entry's folder and of the cache's), before the store returns. Of the
    /// cache's directory itself that is true once the system has written its parent.
    case directory
}
