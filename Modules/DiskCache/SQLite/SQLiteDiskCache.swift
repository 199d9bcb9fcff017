public import AlcedoCore
import AlcedoRuntime
public import FoundationEssentials

/// A data cache that stores its entries in a SQLite database, and data of more than 32 KiB in files beside it.
///
/// ```swift
/// import AlcedoCore
/// import AlcedoSQLiteCache
/// import FoundationEssentials
///
/// func cacheThumbnail(_ png: Data, in directory: URL) async throws {
///     let cache = SQLiteDiskCache(directory: directory, limits: DataCacheLimits(sizeLimit: 512 << 20))
///     let key = ImageKey(ResourceKey("https://images.example.org/cat.png"), variant: "200x200")
///     try await cache.store(CachedData(png), for: key)
///     print(await cache.entry(for: key)?.data.count ?? 0)
/// }
/// ```
///
/// Several caches, in any number of processes, can share a directory. A store that has returned survives the end of the
/// process at any time. Every read of an entry's data verifies a checksum. The cache replaces a database file that is
/// damaged or belongs to another program or version. When it exceeds a limit, it removes the least recently used
/// entries in the background, and if it exceeds it by more than 10 percent, before the next store.
///
/// Only trusted processes may have write access to the directory, because SQLite maps the file `alcedo.sqlite-shm`: a
/// process that truncates it can end the others with SIGBUS. The page of the module describes the sizes, read-only
/// directories and threads.
public final class SQLiteDiskCache: MaintainableDataCache {
    /// The directory that contains the database `alcedo.sqlite` and the directory `values`.
    package let directory: URL
    package let limits: DataCacheLimits

    let storage: EntryStorage

    /// Creates a cache, without accessing the file system.
    ///
    /// The first use opens an existing database. A store creates a missing one, with its directory.
    ///
    /// - Parameters:
    ///   - directory: A directory that contains nothing but the cache, on a local file system.
    ///   - limits: The limits of the cache. The default is a maximum size of 256 MiB and a maximum age of seven days
    ///     since the last use.
    ///   - durability: The data that survives a power failure. The default is `Durability.none`: the database stays
    ///     valid, but the last stores may be lost. With the other values, each store waits until the log, and the file
    ///     of a large value, are on the storage medium. With `directory`, it also waits for the directories of that
    ///     file.
    ///   - sweepInterval: The time between two periodic trims, which remove expired entries and apply the limits. The
    ///     first trim runs one interval after the cache first finds or stores an entry. With zero or less, no periodic
    ///     trims run. The default is ten minutes.
    ///   - lockTimeout: The maximum time that an operation waits for a lock of another process or cache. If the lock is
    ///     not free by then, the operation fails. An operation may wait several times, each time up to this limit.
    ///     A store holds the lock until its whole value is written, so many large values make other processes wait. The
    ///     default is ten seconds.
    ///   - clock: The clock for the dates of entries, their expiration and the sweep interval. The default is the
    ///     system clock.
    ///   - onTrim: A closure that receives a report after a trim has removed entries, whether the trim was requested or
    ///     run by the cache itself. An expired entry that a read removes is not reported. The closure is called on any
    ///     thread, and calls may overlap. The default is nil.
    public init(
        directory: URL, limits: DataCacheLimits = DataCacheLimits(), durability: Durability = .none,
        sweepInterval: Duration = .seconds(600), lockTimeout: Duration = .seconds(10),
        clock: any TimeSource = SystemClock(), onTrim: (@Sendable (DataCacheTrimReport) -> Void)? = nil
    ) {
        self.directory = directory
        self.limits = limits
        storage = EntryStorage(
            directory: directory, limits: limits, durability: durability, sweepInterval: sweepInterval,
            lockTimeout: lockTimeout, clock: clock, trims: Observers(onTrim))
    }

    /// Creates a cache with a size limit and the default age limit.
    ///
    /// - Parameters:
    ///   - directory: A directory that contains nothing but the cache. A store creates a missing one.
    ///   - sizeLimit: The maximum number of bytes that the entries occupy.
    ///   - clock: The clock for the dates of entries, their expiration and the periodic trims. The default is the
    ///     system clock.
    public convenience init(directory: URL, sizeLimit: Int, clock: any TimeSource = SystemClock()) {
        self.init(directory: directory, limits: DataCacheLimits(sizeLimit: sizeLimit), clock: clock)
    }

    deinit {
        // The last close writes the log into the database, which must not delay the thread that releases the cache.
        let storage = storage
        storage.stop()
        Task { await storage.close() }
    }

    /// Returns the entry that was stored under `key`, and records a use of it.
    ///
    /// Returns nil if the entry is absent, expired, damaged or unreadable, or if the task is canceled before the
    /// database is read. If the call finds an expired or damaged entry in the database, the cache tries to remove it.
    public func entry(for key: ImageKey) async -> CachedData? { await storage.entry(for: key) }

    /// Returns whether the cache has an entry for `key` that has not expired, or false if the database cannot be read.
    /// The call does not read the data, which may be damaged, and does not count as a use.
    public func contains(_ key: ImageKey) async -> Bool { await storage.contains(key) }

    /// Returns the metadata of the entry for `key`, or nil if the entry is absent or expired, or the database cannot be
    /// read. The call does not read the data, so the entry may be damaged. The call does not count as a use.
    public func metadata(for key: ImageKey) async -> Data? { await storage.metadata(for: key) }

    /// Stores `entry` under `key`, replacing an existing entry.
    ///
    /// After the call returns, all processes find the entry, and the end of this process does not undo the store. If
    /// the disk is full, the cache halves its size by removing the least recently used entries, and tries once more. If
    /// even the removal needs more space than the disk has, the cache removes all entries. If the expiry of `entry` has
    /// passed, the call only removes the existing entry.
    ///
    /// - Throws: `DataCacheError` with the code `tooLarge` if the entry exceeds the limits of the cache or of SQLite.
    ///   The existing entry then stays. `DataCacheError` with the code `notWritable`, `noSpace` or `failed` if the
    ///   entry cannot be written. `CancellationError` if the task is canceled before the write begins.
    public func store(_ entry: CachedData, for key: ImageKey) async throws {
        try await storage.store(entry, for: key)
    }

    /// Removes the entry of `key`. Returns whether an entry was removed.
    @discardableResult
    public func remove(_ key: ImageKey) async -> Bool {
        await storage.remove { try $0.remove(key.fileName) ? 1 : 0 } > 0
    }

    /// Removes the original and every variant of a resource. Returns the number of removed entries.
    ///
    /// - Complexity: O(*n* log *m*) for *n* variants of the resource and *m* entries in the cache.
    @discardableResult
    public func removeAll(of resource: ResourceKey) async -> Int {
        await storage.remove { try $0.removeAll(of: resource) }
    }

    /// Removes all entries.
    public func removeAll() async {
        await storage.remove {
            try $0.removeAll()
            return 0
        }
    }

    /// Waits until all writes that have begun are done, the uses of entries are in the database, and the limits of size
    /// and count are applied. Failures are ignored.
    public func flush() async { await storage.flush() }

    /// The number of bytes that the entries occupy, including expired ones that have not been removed. Zero if the
    /// database cannot be read.
    ///
    /// - Complexity: O(1).
    public var totalSize: Int {
        get async { await storage.query { try $0.totals().size } ?? 0 }
    }

    /// The number of entries, including expired ones that have not been removed. Zero if the database cannot be read.
    ///
    /// - Complexity: O(1).
    public var count: Int {
        get async { await storage.query { try $0.totals().count } ?? 0 }
    }
}

extension SQLiteDiskCache {
    /// The counts of lookups, stores and evictions since the cache was created.
    public var statistics: CacheStatistics { storage.counts.statistics }

    /// Returns the entries in the database that have not expired, the least recently used first. The result is empty if
    /// the database cannot be read. The call does not count as a use. It first tries to write the recorded uses, and
    /// may wait for other writes. Uses that are not written do not affect the result.
    public func items() async -> [DataCacheItem] {
        await storage.writeUses()
        return await storage.query { [storage] table in
            let now = storage.now
            return try table.rows().filter { !$0.times.areExpired(storage.limits, at: now) }.map { $0.item() }
        } ?? []
    }

    /// Returns the key of the entry whose ``/AlcedoCore/DataCacheItem/name`` is `name`, or nil if the entry is absent
    /// or expired, if its key is damaged, or if the database cannot be read. The call does not verify the data and does
    /// not count as a use.
    public func key(named name: String) async -> ImageKey? {
        await storage.query { [storage] table -> ImageKey? in
            guard let times = try table.times(named: name, uses: storage.uses),
                !times.areExpired(storage.limits, at: storage.now)
            else { return nil }
            return try table.key(named: name)
        } ?? nil
    }

    /// Removes expired entries, then the least recently used ones until the rest occupies at most `size` bytes and has
    /// at most `count` entries. Returns a report of the removed entries.
    ///
    /// The call also applies the limits of the cache. `trim()` only removes expired entries and applies the limits.
    ///
    /// - Parameters:
    ///   - size: The maximum number of bytes that the entries occupy. The default is nil, for no bound.
    ///   - count: The maximum number of entries. The default is nil, for no bound.
    @discardableResult
    public func trim(toSize size: Int? = nil, count: Int? = nil) async -> DataCacheTrimReport {
        guard size != nil || count != nil else { return await storage.trim() }
        return await storage.trim(to: TrimGoal(size: size ?? .max, count: count ?? .max, reason: .trimmed))
    }

    /// Calls `handler` after each trim that has removed entries, in the background or at the request of a caller.
    ///
    /// - Returns: A token. The handler is called until the token is released.
    public func observeTrims(_ handler: @escaping @Sendable (DataCacheTrimReport) -> Void) -> any Sendable {
        storage.trims.add(handler)
    }

    /// Verifies the database and its entries. Removes damaged entries, and the content rows and files that belong to no
    /// entry. Removes the whole database if its structure is damaged. Returns a report of the entries.
    @discardableResult
    package func verify() async -> DataCacheVerification { await storage.verify() }
}
