public import AlcedoCore
public import FoundationEssentials

/// A data cache in a SQLite database, with files of their own for large values beside it.
///
/// Several caches, in several processes too, may use one directory. What is reported stored survives the end of the
/// process at any instant; a power cut may take the last stores, never the file. A checksum finds bytes that changed on
/// the disk; a file that is not a usable database is replaced by a new one, and so is a link or a folder with all that is
/// in it. A directory that cannot be written to can be read.
///
/// The limit of size bounds the database's pages and the blocks of the large values' files together. An entry counts for its
/// share of them. On top come the log, up to 4 MiB, and 64 KiB of pages.
///
/// Only for a directory that no stranger writes to: SQLite maps the file `alcedo.sqlite-shm` into memory, and whoever cuts
/// that short ends the processes that have it open (SIGBUS).
///
/// What is stored can be read at once, by its time's end or until the limits take it: beyond them, the least recently
/// used entries go, in the background and in small steps. Reads have two threads and connections of their own, and wait
/// for no write. That an entry was used is written later, with the uses of others: a process that is killed may forget
/// the order of its last reads.
public final class SQLiteDiskCache: MaintainableDataCache {
    /// Where the database `alcedo.sqlite` and the folder `values` are.
    package let directory: URL
    /// What it keeps at most.
    package let limits: DataCacheLimits

    let storage: EntryStorage

    /// Does not touch the disk yet: the first use opens the database, the first store makes it and its directory.
    ///
    /// - Parameters:
    ///   - directory: A directory that belongs to the cache alone, on a local file system.
    ///   - limits: Default: 256 MiB, for seven days.
    ///   - durability: What survives a power cut. Default: `Durability.none`, which leaves the file whole, without the last
    ///     stores. Others wait for the disk with each store: for the log, and for the file of a large value.
    ///   - sweepInterval: How often a cache that is in use looks for what has expired. Default: ten minutes.
    ///   - lockTimeout: How long a change waits for another process that writes, before it fails. Default: ten seconds.
    ///   - clock: Dates the uses of entries.
    ///   - onTrim: Told what went when the limits, a full disk or a call trimmed the cache. Called from any thread.
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

    /// - Parameters:
    ///   - directory: Belongs to the cache alone; made when it is first written to.
    ///   - sizeLimit: Most bytes that the entries occupy. Other limits are the default ones.
    public convenience init(directory: URL, sizeLimit: Int) {
        self.init(directory: directory, limits: DataCacheLimits(maximumSize: sizeLimit))
    }

    deinit {
        // The last close folds the log into the file, which is no work for the thread that lets go of the cache.
        let storage = storage
        storage.stop()
        Task { await storage.close() }
    }

    public func entry(for key: ImageKey) async -> CachedData? { await storage.entry(for: key) }

    public func contains(_ key: ImageKey) async -> Bool { await storage.contains(key) }

    /// Stores `entry` under `key`, replacing what is there. When it returns, the entry can be read, and the end of the
    /// process does not undo it; others read it from when this is called.
    ///
    /// A full disk makes the cache give up half of what it holds, and try once more.
    ///
    /// - Throws: `DataCacheError`: `tooLarge` when the entry exceeds the limits, and then nothing changes;
    ///   `notWritable`, `noSpace` or `failed` when it cannot be written. `CancellationError` when the task is cancelled
    ///   before the writing begins.
    public func store(_ entry: CachedData, for key: ImageKey) async throws {
        try await storage.store(entry, for: key)
    }

    @discardableResult
    public func remove(_ key: ImageKey) async -> Bool { await storage.remove(.remove(key)) > 0 }

    /// O(*n*) in the variants of the resource.
    @discardableResult
    public func removeAll(of resource: ResourceKey) async -> Int { await storage.remove(.removeResource(resource)) }

    public func removeAll() async { await storage.remove(.removeAll) }

    public func flush() async { await storage.flush() }

    /// O(1).
    public var totalSize: Int {
        get async { await storage.read { try $0.totals().size } ?? 0 }
    }

    /// O(1).
    public var count: Int {
        get async { await storage.read { try $0.totals().count } ?? 0 }
    }
}

extension SQLiteDiskCache {
    public var statistics: DataCacheStatistics { storage.counts.statistics }

    public func items() async -> [DataCacheItem] {
        await storage.writeUses()
        return await storage.read { [storage] queries in
            let now = storage.now
            return try queries.items { $0.areExpired(storage.limits, at: now) }
        } ?? []
    }

    public func key(named name: String) async -> ImageKey? {
        let key = await storage.read { [storage] queries -> ImageKey? in
            guard let times = try queries.times(named: name, uses: storage.uses),
                !times.areExpired(storage.limits, at: storage.now)
            else { return nil }
            return try queries.key(named: name)
        }
        return key.flatMap { $0 }
    }

    @discardableResult
    public func trim(toSize size: Int, count: Int) async -> DataCacheTrimReport {
        await storage.trim(toSize: size, count: count)
    }

    @discardableResult
    public func clean() async -> DataCacheTrimReport { await storage.clean() }

    public func observeTrims(_ handler: @escaping @Sendable (DataCacheTrimReport) -> Void) -> any Sendable {
        storage.trims.add(handler)
    }

    /// Reads every entry, and removes those that are damaged, and files that belong to none. A database whose own
    /// structure is damaged is replaced by an empty one.
    @discardableResult
    package func verify() async -> DataCacheVerification { await storage.verify() }
}
