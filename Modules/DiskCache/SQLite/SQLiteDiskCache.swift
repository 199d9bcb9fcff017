public import AlcedoCore
public import FoundationEssentials

/// A data cache that stores its entries in a SQLite database, and data of more than 32 KiB in files beside it.
///
/// ```swift
/// import AlcedoCore
/// import AlcedoSQLiteCache
/// import FoundationEssentials
///
/// func cacheThumbnail(_ png: Data, in directory: URL) async throws {
///     let cache = SQLiteDiskCache(directory: directory, limits: DataCacheLimits(maximumSize: 512 << 20))
///     let key = ImageKey(ResourceKey("https://images.example.org/cat.png"), variant: "200x200")
///     try await cache.store(CachedData(png), for: key)
///     print(await cache.entry(for: key)?.data.count ?? 0)
/// }
/// ```
///
/// Several caches, in any number of processes, can share a directory. A store that has returned survives the end of the
/// process at any time. By default, a power failure may lose the last stores, but it does not damage the database.
/// Every read verifies a checksum. The cache replaces a database file that is not usable. It also replaces a symbolic
/// link, or a directory with its content, that has the name of the database. It can read a directory that it cannot
/// write to.
///
/// The size limit bounds the sum of the database's pages and of the blocks of the large values' files. An entry counts
/// for its share of them. The limit does not include the write-ahead log (up to 4 MiB) and 64 KiB of pages.
///
/// Use the cache only for a directory that no untrusted process can write to: SQLite maps the file `alcedo.sqlite-shm`
/// into memory, and a process that truncates it ends all processes that have it open with SIGBUS.
///
/// When the cache exceeds a limit, it removes the least recently used entries in the background, in small steps. Reads
/// have two threads and connections of their own, and do not wait for writes. The cache writes the uses of entries
/// later and in groups, so a process that is killed may lose the order of its last reads.
public final class SQLiteDiskCache: MaintainableDataCache, TrimReportingDataCache {
    /// The directory that contains the database `alcedo.sqlite` and the directory `values`.
    package let directory: URL
    /// The limits of the cache.
    package let limits: DataCacheLimits

    let storage: EntryStorage

    /// Creates a cache, without accessing the file system.
    ///
    /// The first use opens the database, and the first store creates it and its directory.
    ///
    /// - Parameters:
    ///   - directory: A directory that contains nothing but the cache, on a local file system.
    ///   - limits: The limits of the cache. The default is 256 MiB, and seven days since the last use.
    ///   - durability: The data that survives a power failure. The default is `Durability.none`: the database stays
    ///     valid, but the last stores may be lost. With the other values, each store waits until the log, and the file
    ///     of a large value, are on the storage medium.
    ///   - sweepInterval: The time between two periodic trims, which remove expired entries and apply the limits. They
    ///     start with the first hit or store. With zero or less, there are none. The default is ten minutes.
    ///   - lockTimeout: The maximum time that a change, or the opening of the database, waits for another process.
    ///     After it, the operation fails. The default is ten seconds.
    ///   - clock: The clock for the dates of entries, their expiration and the sweep interval. The default is the
    ///     system clock.
    ///   - onTrim: A closure that receives a report after a trim has removed entries. A trim runs periodically, when a
    ///     limit is exceeded, when the disk is full, and in ``trim(toSize:count:)``. Entries that a read finds expired
    ///     are not reported. The closure is called on any thread. The default is nil.
    public init(
        directory: URL, limits: DataCacheLimits = DataCacheLimits(), durability: Durability = .none,
        sweepInterval: Duration = .seconds(600), lockTimeout: Duration = .seconds(10),
        clock: any TimeSource = SystemClock(), onTrim: (@Sendable (DataCacheTrimReport) -> Void)? = nil
    ) {
        self.directory = directory
        self.limits = limits
        storage = EntryStorage(
            directory: directory, limits: limits, durability: durability, sweepInterval: sweepInterval,
            lockTimeout: lockTimeout, clock: clock, trims: TrimObservers(onTrim))
    }

    /// Creates a cache with a size limit and the default age limit.
    ///
    /// - Parameters:
    ///   - directory: A directory that contains nothing but the cache. The first store creates it.
    ///   - sizeLimit: The maximum number of bytes that the entries occupy.
    ///   - clock: The clock for the dates of entries and their expiration. The default is the system clock.
    public convenience init(directory: URL, sizeLimit: Int, clock: any TimeSource = SystemClock()) {
        self.init(directory: directory, limits: DataCacheLimits(maximumSize: sizeLimit), clock: clock)
    }

    deinit {
        // The last close writes the log into the database, which must not delay the thread that releases the cache.
        let storage = storage
        storage.stop()
        Task { await storage.close() }
    }

    /// Returns the entry that was stored under `key`, and records a use of it.
    ///
    /// Returns nil if the entry is absent, expired, damaged or unreadable, or if the task is canceled before the read
    /// begins. The cache removes an expired or damaged entry.
    public func entry(for key: ImageKey) async -> CachedData? { await storage.entry(for: key) }

    /// Returns whether the cache has an entry for `key` that has not expired. The call does not read the data and does
    /// not count as a use.
    public func contains(_ key: ImageKey) async -> Bool { await storage.contains(key) }

    /// Stores `entry` under `key`, replacing an existing entry.
    ///
    /// Reads of this cache find the entry as soon as this call begins. After it returns, all processes find the entry,
    /// and the end of this process does not undo the store. If the disk is full, the cache halves its size by removing
    /// the least recently used entries, and tries once more. If the expiry of `entry` has passed, the call only removes
    /// the existing entry.
    ///
    /// - Throws: `DataCacheError`: `tooLarge` if the entry exceeds the limits, and then nothing changes; `notWritable`,
    ///   `noSpace` or `failed` if it cannot be written. `CancellationError` if the task is canceled before the write
    ///   begins.
    public func store(_ entry: CachedData, for key: ImageKey) async throws {
        try await storage.store(entry, for: key)
    }

    /// Removes the entry of `key`. Returns whether the cache had one.
    @discardableResult
    public func remove(_ key: ImageKey) async -> Bool { await storage.remove(.remove(key)) > 0 }

    /// Removes the original and every variant of a resource. Returns the number of removed entries.
    ///
    /// - Complexity: O(*n* log *m*) for *n* variants of the resource and *m* entries in the cache.
    @discardableResult
    public func removeAll(of resource: ResourceKey) async -> Int { await storage.remove(.removeResource(resource)) }

    /// Removes all entries.
    public func removeAll() async { await storage.remove(.removeAll) }

    /// Waits until all writes that have begun are done, the uses of entries are in the database, and the limits are
    /// applied.
    public func flush() async { await storage.flush() }

    /// The number of bytes that the entries occupy, or zero if the database cannot be read.
    ///
    /// - Complexity: O(1).
    public var totalSize: Int {
        get async { await storage.read { try $0.totals().size } ?? 0 }
    }

    /// The number of entries, or zero if the database cannot be read.
    ///
    /// - Complexity: O(1).
    public var count: Int {
        get async { await storage.read { try $0.totals().count } ?? 0 }
    }
}

extension SQLiteDiskCache {
    /// The counts of lookups, stores and evictions since the cache was created.
    public var statistics: CacheStatistics { storage.counts.statistics }

    /// Returns all entries that have not expired, the least recently used first. The result is empty if the database
    /// cannot be read. The call does not count as a use.
    public func items() async -> [DataCacheItem] {
        await storage.writeUses()
        return await storage.read { [storage] queries in
            let now = storage.now
            return try queries.items { $0.areExpired(storage.limits, at: now) }
        } ?? []
    }

    /// Returns the key of the entry whose ``/AlcedoCore/DataCacheItem/name`` is `name`, or nil if the entry is absent
    /// or expired, or if its key is damaged. The call does not verify the data and does not count as a use.
    public func key(named name: String) async -> ImageKey? {
        let key = await storage.read { [storage] queries -> ImageKey? in
            guard let times = try queries.times(named: name, uses: storage.uses),
                !times.areExpired(storage.limits, at: storage.now)
            else { return nil }
            return try queries.key(named: name)
        }
        return key.flatMap { $0 }
    }

    /// Removes expired entries, then the least recently used ones until the rest occupies at most `size` bytes and has
    /// at most `count` entries. Returns a report of the removed entries.
    ///
    /// `trim()` removes expired entries and applies the limits of the cache.
    ///
    /// - Parameters:
    ///   - size: The maximum number of bytes that the entries occupy. The default is nil, for no bound.
    ///   - count: The maximum number of entries. The default is nil, for no bound.
    @discardableResult
    public func trim(toSize size: Int? = nil, count: Int? = nil) async -> DataCacheTrimReport {
        guard size != nil || count != nil else { return await storage.trimToLimits() }
        return await storage.trim(toSize: size ?? .max, count: count ?? .max)
    }

    package func observeTrims(_ handler: @escaping @Sendable (DataCacheTrimReport) -> Void) -> any Sendable {
        storage.trims.add(handler)
    }

    /// Reads every entry, and removes damaged ones and files without an entry. Removes a database with a damaged
    /// structure, so that the cache is empty. Returns a report of what it found.
    @discardableResult
    package func verify() async -> DataCacheVerification { await storage.verify() }
}
