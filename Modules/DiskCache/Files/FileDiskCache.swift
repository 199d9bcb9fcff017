public import AlcedoCore
import AlcedoRuntime
public import FoundationEssentials

/// A data cache that stores each entry in a file of its own.
///
/// ```swift
/// import AlcedoCore
/// import AlcedoDiskCache
/// import FoundationEssentials
///
/// func cacheThumbnail(_ png: Data, in directory: URL) async throws {
///     let cache = FileDiskCache(
///         directory: directory, limits: DataCacheLimits(sizeLimit: 512 << 20), pathExtension: "png")
///     let key = ImageKey(ResourceKey("https://images.example.org/cat.png"), variant: "200x200")
///     try await cache.store(CachedData(png), for: key)
///     print(await cache.entry(for: key)?.data.count ?? 0)
/// }
/// ```
///
/// A read verifies a checksum of the whole file. A damaged entry is a miss, and is removed. When the cache exceeds a
/// limit, it removes the least recently used entries in the background, and if it exceeds it by more than 10 percent,
/// before the store returns. The size limit applies to the bytes that the file system has allocated for the entries.
/// Any number of processes can share the directory. If the directory disappears, the next store creates it again.
///
/// Stores throw ``/AlcedoCore/DataCacheError`` or `CancellationError`. The page of the module describes the index, the
/// sizes and the threads.
///
/// - Complexity: The cache uses about 120 bytes of memory an entry. The first read reads the index, of at least 88
///   bytes an entry, and the file of the requested entry.
public final class FileDiskCache: MaintainableDataCache {
    /// The directory that contains the files.
    package let directory: URL
    package let limits: DataCacheLimits

    private let trims: Observers<DataCacheTrimReport>

    /// The engine, or nil if the directory is not a file URL with a usable path. Without an engine, every store fails.
    let engine: DiskCacheEngine?

    /// Creates a cache, without accessing its directory.
    ///
    /// The first use reads the directory, and the first store creates it.
    ///
    /// - Parameters:
    ///   - directory: A directory that contains nothing but the cache, on a local file system.
    ///   - limits: The limits of the cache. The default is 256 MiB, and seven days since the last use.
    ///   - pathExtension: The extension of the files' names, without a dot: 1 to 16 ASCII letters and digits. Any other
    ///     value counts as no extension. An entry's file begins with its data, so image viewers can open it. Caches
    ///     that share a directory should use the same extension, because each cache changes the extensions of all files
    ///     to its own. The default is no extension.
    ///   - keepsPathExtensions: Whether the file of a resource whose URL ends with the path extension of an image
    ///     format, such as `photo.JPG?width=80`, has that extension, in lower case: avif, bmp, gif, heic, heif, ico,
    ///     jpeg, jpg, jxl, png, svg, tif, tiff or webp. All other files have `pathExtension`. The extension says
    ///     nothing about the data: a server may send another format, and a processed variant, which has the extension
    ///     of its original, may be encoded in another one. Caches that share a directory should use the same value. A
    ///     cache with another value than the last one reads the end of every file once. The default is false.
    ///   - durability: The data that survives a power failure. The default is ``/AlcedoCore/Durability/none``.
    ///   - sweepInterval: The time between two periodic trims, which remove expired entries and apply the limits. The
    ///     first trim runs one interval after the first hit or store. With zero or less, no periodic trims run. The
    ///     default is ten minutes.
    ///   - lockTimeout: The approximate time that a change waits for another cache of the directory to release the
    ///     index. After this time, the change fails. ``remove(_:)`` and ``removeAll()`` still remove the files then.
    ///     The default is ten seconds.
    ///   - clock: The clock for the dates of entries, their expiration and the sweep interval. The default is the
    ///     system clock.
    ///   - onTrim: A closure that receives a report after a trim has removed entries, and after entries were removed
    ///     because the disk was full. Other removals are not reported, for example the removal of an expired entry
    ///     after a read. The cache calls the closure outside its locks, on any thread. The default is nil.
    ///   - onFileOperation: A closure that receives each operation on the cache's files before it is performed, and
    ///     returns nil to perform it, or the fault with which it ends. For tests of errors, such as a full disk, and
    ///     for hosts that count operations. The cache calls the closure under its locks, on any thread, so it must not
    ///     call the cache. The default is nil.
    public init(
        directory: URL,
        limits: DataCacheLimits = DataCacheLimits(),
        pathExtension: String? = nil,
        keepsPathExtensions: Bool = false,
        durability: Durability = .none,
        sweepInterval: Duration = .seconds(600),
        lockTimeout: Duration = .seconds(10),
        clock: any TimeSource = SystemClock(),
        onTrim: (@Sendable (DataCacheTrimReport) -> Void)? = nil,
        onFileOperation: (@Sendable (DiskFileOperation) -> DiskFileFault?)? = nil
    ) {
        self.directory = directory
        self.limits = limits
        let trims = Observers(onTrim)
        self.trims = trims
        var paths = EntryPaths(directory, pathExtension: pathExtension, keepsPathExtensions: keepsPathExtensions)
        if let onFileOperation { paths?.hook = { onFileOperation(DiskFileOperation($0))?.fileFault } }
        engine = paths.map { paths in
            DiskCacheEngine(
                EntryStore(paths, limits: limits, durability: durability, lockTimeout: lockTimeout, clock: clock),
                sweepInterval: sweepInterval,
                clock: clock, trims: trims)
        }
    }

    /// Creates a cache with a size limit and the default age limit.
    ///
    /// - Parameters:
    ///   - directory: A directory that contains nothing but the cache, on a local file system.
    ///   - sizeLimit: The maximum number of bytes that the entries occupy.
    ///   - clock: The clock for the dates of entries and their expiration. The default is the system clock.
    public convenience init(directory: URL, sizeLimit: Int, clock: any TimeSource = SystemClock()) {
        self.init(directory: directory, limits: DataCacheLimits(sizeLimit: sizeLimit), clock: clock)
    }

    deinit { engine?.close() }

    // MARK: Reading

    /// Returns the entry that was stored under `key`. The call counts as a use if the index has the entry and no store
    /// of the entry is in progress.
    ///
    /// Returns nil in these cases:
    /// - The entry is absent, expired, damaged or unreadable.
    /// - The entry's file does not match the index, and the index cannot be changed.
    /// - The task is canceled before the read of the file begins.
    ///
    /// The cache removes an expired or damaged entry if it can write to the directory and lock the index.
    public func entry(for key: ImageKey) async -> CachedData? { await engine?.entry(for: key, isMapped: false) }

    /// Returns an entry with its data mapped into memory instead of copied.
    ///
    /// The result is the same as that of ``entry(for:)``. Mapping is faster for data of about one megabyte or more. The
    /// call verifies the checksum, which reads the whole file once. The data is not mapped if the entry is still being
    /// stored or had to be checked again.
    ///
    /// Use this function only for a directory that only trusted processes can write to. If another process truncates a
    /// mapped file, an access to the lost data ends this process with SIGBUS. The caches themselves never modify the
    /// content of an entry's file, so several caches can share a directory.
    public func mappedEntry(for key: ImageKey) async -> CachedData? { await engine?.entry(for: key, isMapped: true) }

    /// Returns the data of an entry in chunks, so that the whole data need not be in memory.
    ///
    /// The call counts as a use in the same cases as ``entry(for:)``. The call verifies the checksum before it returns,
    /// unless the entry is still being stored. A full iteration therefore usually reads the file a second time. The
    /// call returns nil in the same cases as ``entry(for:)``.
    ///
    /// - Parameters:
    ///   - key: The key that the entry was stored under.
    ///   - chunkSize: The maximum number of bytes in a chunk. A value below 4096 counts as 4096. The default is 64 KiB.
    package func chunks(for key: ImageKey, chunkSize: Int = 64 << 10) async -> DiskEntryChunks? {
        await engine?.chunks(for: key, chunkSize: chunkSize)
    }

    /// Returns whether the cache has an entry for `key` that has not expired. The call does not read the data, so the
    /// entry may be damaged. The call does not count as a use.
    public func contains(_ key: ImageKey) async -> Bool { await engine?.contains(key) ?? false }

    /// Returns the metadata of the entry for `key`, or nil if the entry is absent, expired or unreadable. The call only
    /// reads the end of the file, so the entry may be damaged. The call does not count as a use.
    public func metadata(for key: ImageKey) async -> Data? { await engine?.metadata(for: key) }

    // MARK: Changing

    /// Stores `entry` under `key`, replacing an existing entry.
    ///
    /// Reads of this cache find the entry as soon as this call begins, before it is on disk. If the disk is full, the
    /// cache halves its size by removing the least recently used entries, and tries once more. If the expiry of `entry`
    /// has passed, the call only removes the existing entry.
    ///
    /// - Throws: ``/AlcedoCore/DataCacheError``: `tooLarge` if the entry exceeds the limits, or if its key or metadata
    ///   is too long for the file format; `notWritable`, `noSpace` or `failed` if the entry cannot be written.
    ///   `CancellationError` if the task is canceled before the write begins. After an error, the existing entry may be
    ///   missing.
    public func store(_ entry: CachedData, for key: ImageKey) async throws {
        guard let engine else { throw noDirectory }
        try await engine.store(entry, for: key)
    }

    /// Removes the entry of `key`. Returns whether an entry was removed.
    @discardableResult
    public func remove(_ key: ImageKey) async -> Bool { await engine?.remove(key) ?? false }

    /// Removes the original and every variant of a resource. Returns the number of removed entries.
    ///
    /// - Complexity: O(*n*) in memory for *n* entries in the index, and a few system calls for each removed entry.
    @discardableResult
    public func removeAll(of resource: ResourceKey) async -> Int { await engine?.removeAll(of: resource) ?? 0 }

    /// Removes all entries of the directory, also those that other processes have stored.
    public func removeAll() async { await engine?.removeAll() }

    /// Waits for the end of all stores and removals that have begun, and of the trims that follow them. Also applies
    /// the limits of size and count, and writes the uses of entries to the index file. Other processes find the uses
    /// there.
    public func flush() async { await engine?.flush() }

    // MARK: Blocking calls

    /// Returns an entry as ``entry(for:)`` does, but blocks the caller's thread.
    ///
    /// Call this function on a thread that may block. The call avoids the switch to another thread and back.
    @available(*, noasync, message: "entryBlocking(for:) blocks the thread; use entry(for:) in async code")
    package func entryBlocking(for key: ImageKey) -> CachedData? { engine?.entryBlocking(for: key) }

    /// Stores an entry as ``store(_:for:)`` does, but blocks the caller's thread. If the cache then exceeds a limit, it
    /// is trimmed in the background; if it exceeds a limit by more than 10 percent, it is trimmed before the call
    /// returns.
    ///
    /// If two stores of one key are in progress, on any threads, the entry of the later call remains, unless that call
    /// fails. A removal discards the stores of its key that are in progress. It does not discard stores that begin
    /// later.
    ///
    /// - Throws: ``/AlcedoCore/DataCacheError``.
    @available(*, noasync, message: "storeBlocking(_:for:) blocks the thread; use store(_:for:) in async code")
    package func storeBlocking(_ entry: CachedData, for key: ImageKey) throws(DataCacheError) {
        guard let engine else { throw noDirectory }
        try engine.storeBlocking(entry, for: key)
    }

    // MARK: Inspecting

    /// The number of bytes that the entries occupy, including expired ones that have not been removed.
    public var totalSize: Int { get async { await engine?.totals.size ?? 0 } }

    /// The number of entries, including expired ones that have not been removed.
    public var count: Int { get async { await engine?.totals.count ?? 0 } }

    /// The statistics of the cache since it was created.
    public var statistics: CacheStatistics { engine?.store.statistics ?? CacheStatistics() }

    /// Returns the entries that have not expired, the least recently used first. The call does not count as a use.
    public func items() async -> [DataCacheItem] { await engine?.items() ?? [] }

    /// Returns the key of the entry whose ``/AlcedoCore/DataCacheItem/name`` is `name`, or nil if the entry is absent,
    /// expired, damaged or unreadable. The call reads the whole entry and does not count as a use.
    public func key(named name: String) async -> ImageKey? { await engine?.key(named: name) }

    /// Returns the location of an entry's file, whether or not the file exists. Returns nil if the cache's directory is
    /// not a file URL with a usable path.
    public func path(for key: ImageKey) -> URL? {
        engine.map { URL(filePath: $0.store.files.paths.file($0.store.files.paths.name(of: key))) }
    }

    /// Returns the reason why ``count``, ``totalSize`` and ``items()`` may not include all entries, or nil if they do.
    /// A single file is omitted without an error if it cannot be read or cannot be given the cache's extension.
    ///
    /// Possible reasons include a directory that cannot be reached, read or written to, a full disk without space for a
    /// new index, and another cache that holds the lock of the index. A directory that does not exist is not an error.
    package func listingError() async -> DataCacheError? {
        if let engine { await engine.listingError() } else { noDirectory }
    }

    private var noDirectory: DataCacheError {
        DataCacheError(.notWritable, "not a file URL of a directory: \(directory)")
    }

    // MARK: Maintaining

    /// Calls `handler` after each trim that has removed entries, in the background or at the request of a caller.
    ///
    /// - Returns: A token. The handler is called until the token is released.
    public func observeTrims(_ handler: @escaping @Sendable (DataCacheTrimReport) -> Void) -> any Sendable {
        trims.add(handler)
    }

    /// Removes expired entries, then the least recently used ones until the rest occupies at most `size` bytes and has
    /// at most `count` entries. Returns a report of the removed entries.
    ///
    /// If both parameters are nil, the call removes expired entries and applies the limits of the cache.
    ///
    /// - Parameters:
    ///   - size: The maximum number of bytes that the entries occupy. The default is nil, for no bound.
    ///   - count: The maximum number of entries. The default is nil, for no bound.
    @discardableResult
    public func trim(toSize size: Int? = nil, count: Int? = nil) async -> DataCacheTrimReport {
        guard let engine else { return DataCacheTrimReport(error: noDirectory) }
        guard size != nil || count != nil else { return await engine.trimToLimits() }
        return await engine.trim(
            EntryTrim(toSize: max(0, size ?? .max), count: max(0, count ?? .max), reason: .trimmed))
    }

    /// Reads every entry and removes the damaged ones. Returns a report of what it found.
    @discardableResult
    package func verify() async -> DataCacheVerification {
        await engine?.verify() ?? DataCacheVerification(error: noDirectory)
    }

    /// Moves the entries of another cache's directory into this one.
    ///
    /// If this cache already has an entry of the same key, that entry stays unchanged, and the other directory's entry
    /// is removed. Damaged and expired entries of the other directory are also removed. An entry that cannot be read or
    /// stored, for example because it exceeds the limits, stays in the other directory. If the file of a moved entry
    /// cannot be removed, the file also stays there. The moved entries keep their order of use, and count as more
    /// recently used than the entries of this cache. If nothing is left in the other directory, the directory is
    /// removed. No other cache may use the other directory during the call.
    ///
    /// - Returns: The number of moved entries. Zero if `other` is not a file URL, does not exist, or is this cache's
    ///   directory.
    @discardableResult
    public func adoptEntries(of other: URL) async -> Int { await engine?.adoptEntries(of: other) ?? 0 }
}
