public import AlcedoCore
public import FoundationEssentials

/// Keeps bytes in files: one file an entry, written beside its place, then renamed into it, and verified by a checksum
/// each time it is read.
///
/// A torn, truncated, bit-flipped or foreign file is a miss that removes itself. An index, kept in memory and in a file,
/// tells sizes, expiries and the order of use, which survives restarts; it is made anew from the entries when it is
/// missing or damaged. Beyond the limits the least recently used entries go, in the background. A directory that vanishes
/// is made again.
///
/// Any number of processes may share a directory: each knows what the others did before it changes anything, and a lock is
/// held for a change only, which the system frees if its owner dies.
///
/// Sizes are the blocks that the file system has allocated for the entries' files, so that the limit of size holds for the
/// disk. On top of it come the index, up to 176 bytes an entry and 0.7 MB, and 256 folders, 1 MiB on most file systems.
///
/// Reads run on two threads of their own and writes on one, so that a hit never waits for the file of an entry to
/// be written, nor for a trim. Finding what the index has takes no system call; `contains` and a miss take one.
///
/// - Complexity: In memory about 120 bytes an entry. Opening reads 88 bytes an entry, and no entry's file. The first change,
///   count or listing after the machine has started lists all names; after damage to the index it also asks for the size
///   and date of each file, and after the loss of it, reads the end of each. Reads do not wait for that.
public final class FileDiskCache: MaintainableDataCache {
    /// Where the files are.
    package let directory: URL
    /// What it keeps at most.
    package let limits: DataCacheLimits

    private let trims: TrimObservers

    /// nil when the URL is no path; nothing can then be stored.
    let engine: DiskCacheEngine?

    /// Makes a cache. Touches no file: the directory is made by the first store and read by the first use.
    ///
    /// - Parameters:
    ///   - directory: A directory that belongs to the cache alone, on a local file system.
    ///   - limits: Default: 256 MiB, and seven days since the last use.
    ///   - pathExtension: What the files' names end with, without a dot: letters and digits, at most 16; anything else is
    ///     none. An entry's data stands at the beginning of its file, so that image viewers can open it. Default: none.
    ///   - durability: What survives a power cut. Default: ``Durability/none``.
    ///   - sweepInterval: How often a cache that is in use looks for what has expired. Nought or less: never by itself.
    ///     Default: ten minutes.
    ///   - lockTimeout: How long a change waits for another process that keeps the index, before it fails. Default: ten
    ///     seconds.
    ///   - clock: Dates the uses of entries.
    ///   - onTrim: Called after limits, a full disk or ``trim(toSize:count:)`` have removed entries, outside any lock, on a
    ///     thread of the cooperative pool; not for one that a read found expired.
    public init(
        directory: URL,
        limits: DataCacheLimits = DataCacheLimits(),
        pathExtension: String? = nil,
        durability: Durability = .none,
        sweepInterval: Duration = .seconds(600),
        lockTimeout: Duration = .seconds(10),
        clock: any TimeSource = SystemClock(),
        onTrim: (@Sendable (DataCacheTrimReport) -> Void)? = nil
    ) {
        self.directory = directory
        self.limits = limits
        let trims = TrimObservers(onTrim)
        self.trims = trims
        engine = EntryPaths(directory, pathExtension: pathExtension).map { paths in
            DiskCacheEngine(
                EntryStore(paths, limits: limits, durability: durability, lockTimeout: lockTimeout, clock: clock),
                sweepInterval: sweepInterval,
                clock: clock, trims: trims)
        }
    }

    /// Makes a cache with no limit but that of its size and the usual age.
    public convenience init(directory: URL, sizeLimit: Int, clock: any TimeSource = SystemClock()) {
        self.init(directory: directory, limits: DataCacheLimits(maximumSize: sizeLimit), clock: clock)
    }

    deinit { engine?.close() }

    // MARK: Reading

    public func entry(for key: ImageKey) async -> CachedData? { await engine?.entry(for: key, isMapped: false) }

    /// Finds an entry as ``entry(for:)`` does, with its data mapped into memory rather than copied. Worth it from about a
    /// megabyte on. The checksum is verified, which reads all of it once.
    ///
    /// Only for a directory that no stranger writes to: a file that somebody cuts short while it is mapped ends the
    /// process (SIGBUS). The cache itself never changes a file, so another one with the same directory does no harm.
    public func mappedEntry(for key: ImageKey) async -> CachedData? { await engine?.entry(for: key, isMapped: true) }

    /// The data of an entry, in chunks, so that it need not be in memory at once. Counts as a use. The checksum is verified
    /// before the first chunk comes, so the file is read twice. nil as for ``entry(for:)``.
    ///
    /// - Parameters:
    ///   - key: What the entry was stored under.
    ///   - chunkSize: Most bytes of a chunk; at least 4096. Default: 64 KiB.
    package func chunks(for key: ImageKey, chunkSize: Int = 64 << 10) async -> DiskEntryChunks? {
        await engine?.chunks(for: key, chunkSize: chunkSize)
    }

    public func contains(_ key: ImageKey) async -> Bool { await engine?.contains(key) ?? false }

    // MARK: Changing

    /// Stores `entry` under `key`. Readers find it from the call on, before it is on disk.
    ///
    /// A full disk makes the cache give up half of what it holds, and try once more.
    ///
    /// - Throws: ``DataCacheError``, or `CancellationError` when the task is cancelled before the writing begins.
    public func store(_ entry: CachedData, for key: ImageKey) async throws {
        guard let engine else { throw noDirectory }
        try await engine.store(entry, for: key)
    }

    @discardableResult
    public func remove(_ key: ImageKey) async -> Bool { await engine?.remove(key) ?? false }

    /// Removes the original and every variant of a resource. Looks through the index in memory, O(number of entries), and
    /// touches the files that go.
    @discardableResult
    public func removeAll(of resource: ResourceKey) async -> Int { await engine?.removeAll(of: resource) ?? 0 }

    public func removeAll() async { await engine?.removeAll() }

    /// Returns when all stores and trims so far are done, and other processes may know of all uses.
    public func flush() async { await engine?.flush() }

    // MARK: On a thread of one's own

    /// Finds an entry as ``entry(for:)`` does, on the caller's thread, which it blocks. For threads that are there to block:
    /// what a task saves by ``entry(for:)`` is the pool's thread, what it pays is a way to another thread and back.
    @available(*, noasync, message: "blocks the thread; a task has entry(for:)")
    package func entryBlocking(for key: ImageKey) -> CachedData? { engine?.entryBlocking(for: key) }

    /// Stores as ``store(_:for:)`` does, on the caller's thread, which it blocks; a trim that is due goes on behind it.
    ///
    /// Stores and removals of one key take effect in the order in which they were called, whatever the threads: of two
    /// stores in progress at once, the entry of the later call stays.
    ///
    /// - Throws: ``DataCacheError``.
    @available(*, noasync, message: "blocks the thread; a task has store(_:for:)")
    package func storeBlocking(_ entry: CachedData, for key: ImageKey) throws(DataCacheError) {
        guard let engine else { throw noDirectory }
        try engine.storeBlocking(entry, for: key)
    }

    // MARK: Telling

    public var totalSize: Int { get async { await engine?.totals.size ?? 0 } }

    public var count: Int { get async { await engine?.totals.count ?? 0 } }

    public var statistics: DataCacheStatistics { engine?.store.statistics ?? DataCacheStatistics() }

    public func items() async -> [DataCacheItem] { await engine?.items() ?? [] }

    public func key(named name: String) async -> ImageKey? { await engine?.key(named: name) }

    /// Where the file of an entry is, or would be: tells nothing of its being there. nil when the cache's directory is no
    /// path.
    public func path(for key: ImageKey) -> URL? {
        engine.map { URL(filePath: $0.store.files.paths.file(EntryName(key))) }
    }

    /// Why ``count``, ``totalSize`` and ``items()`` may tell of less than there is: the directory cannot be looked into, or
    /// there is no index and no room for one. nil when all is known, and when there is nothing in the directory's place.
    package func listingError() async -> DataCacheError? {
        if let engine { await engine.listingError() } else { noDirectory }
    }

    private var noDirectory: DataCacheError {
        DataCacheError(.notWritable, "\(directory) is not the URL of a directory")
    }

    // MARK: Maintaining

    public func observeTrims(_ handler: @escaping @Sendable (DataCacheTrimReport) -> Void) -> any Sendable {
        trims.add(handler)
    }

    @discardableResult
    public func trim(toSize size: Int, count: Int) async -> DataCacheTrimReport {
        await engine?.trim(
            EntryTrim(toSize: max(0, size), count: max(0, count), reason: .requested))
            ?? DataCacheTrimReport(refusal: noDirectory)
    }

    @discardableResult
    public func clean() async -> DataCacheTrimReport {
        await engine?.clean() ?? DataCacheTrimReport(refusal: noDirectory)
    }

    @discardableResult
    package func verify() async -> DataCacheVerification {
        await engine?.verify() ?? DataCacheVerification(refusal: noDirectory)
    }

    /// Moves all entries of another cache's directory into this one. What is there already stays as it is, and its like in
    /// the other directory goes. The other directory must not be in use.
    ///
    /// - Returns: How many entries came.
    @discardableResult
    public func adoptEntries(of other: URL) async -> Int { await engine?.adoptEntries(of: other) ?? 0 }
}
