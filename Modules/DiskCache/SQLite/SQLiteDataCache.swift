public import AlcedoCore
public import FoundationEssentials
import Synchronization

/// A data cache in one SQLite database file, for apps that rather have one file than thousands.
///
/// Several caches, in several processes too, may use one directory. What is reported stored survives the end of the
/// process at any instant; a power cut may take the last stores, never the file. A checksum finds bytes that changed on
/// the disk; a file that is not a usable database is replaced by a new one. Beyond the size limit the least recently
/// used entries go.
public final class SQLiteDataCache: DataCaching {
    /// Most bytes of all entries, the cache's own notes included.
    public let sizeLimit: Int

    private let file: ConfinedFile

    /// Does not touch the disk yet: the first use opens the file, or makes it and its directory.
    ///
    /// - Parameters:
    ///   - directory: Where the database file `alcedo.sqlite` stands, with its helpers. On a local file system.
    ///   - sizeLimit: In bytes. A store that exceeds it evicts down to 90 % of it. Default: 256 MiB.
    public init(directory: URL, sizeLimit: Int = 256 << 20) {
        self.sizeLimit = sizeLimit
        file = ConfinedFile(directory: directory)
    }

    deinit {
        // The last close folds the log into the file, which is no work for the thread that lets go of the cache.
        let file = file
        Task { await file.close() }
    }

    public func entry(for key: ImageKey) async -> CachedData? {
        let found = try? await file.perform(makesFile: false) { try $0.entry(for: key) }
        return found ?? nil
    }

    /// Stores `entry` under `key`, replacing what is there. When it returns, the entry can be read.
    ///
    /// - Throws: `DataCacheError`: `tooLarge` when the entry exceeds the size limit, and then nothing changes;
    ///   `notWritable`, `noSpace` or `failed` when the file cannot be written. `CancellationError`.
    public func store(_ entry: CachedData, for key: ImageKey) async throws {
        let limit = sizeLimit
        let size = EntryTable.size(of: entry, for: key)
        guard size <= limit else {
            throw DataCacheError(.tooLarge, "an entry of \(size) bytes is larger than the cache of \(limit) bytes")
        }
        do {
            _ = try await file.perform(makesFile: true) { try $0.store(entry, for: key, limit: limit) }
        } catch let failure as SQLiteFailure {
            throw failure.cacheError
        }
    }

    @discardableResult
    public func remove(_ key: ImageKey) async -> Bool {
        await file.performUncancelled { try $0.remove(key) } ?? false
    }

    public func contains(_ key: ImageKey) async -> Bool { false }
    public func removeAll(of resource: ResourceKey) async -> Int { 0 }
    public var count: Int { 0 }

    public func removeAll() async { await file.performUncancelled { try $0.removeAll() } }

    public var totalSize: Int {
        get async { await file.performUncancelled { try $0.totalSize() } ?? 0 }
    }
}
