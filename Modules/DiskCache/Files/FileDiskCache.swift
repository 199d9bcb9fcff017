public import AlcedoCore
public import FoundationEssentials

/// Keeps bytes in files: one file an entry, written beside its place, then renamed into it, and verified by a checksum
/// each time it is read.
///
/// A torn, truncated, bit-flipped or foreign file is a miss that removes itself. The least recently used entries go
/// when the size exceeds the limit, down to nine tenths of it; their order survives restarts in the files' modification
/// times. A directory that vanishes is made again. Two processes may share a directory; each keeps the limit by what
/// it knows of.
///
/// Reads run on two threads of their own and writes on one, so that a reader never waits for a trim.
public final class FileDiskCache: DataCaching {
    /// Where the files are.
    public let directory: URL
    /// Most bytes that the files occupy together.
    public let sizeLimit: Int

    private let folder: EntryFolder
    private let index = Locked(EntryIndex())
    private let clock: any TimeSource
    private let readers = BlockingExecutor(name: "alcedo.disk.read", width: 2)
    private let writer = BlockingExecutor(name: "alcedo.disk.write", width: 1)

    /// Makes a cache. Touches no file: the directory is made by the first store and read by the first use.
    ///
    /// - Parameters:
    ///   - directory: A directory that belongs to the cache alone.
    ///   - sizeLimit: Most bytes that the files occupy together. Default: 256 MiB.
    ///   - clock: Dates the uses of entries.
    public init(directory: URL, sizeLimit: Int = 256 << 20, clock: any TimeSource = SystemClock()) {
        self.directory = directory
        self.sizeLimit = sizeLimit
        self.clock = clock
        folder = EntryFolder(path: directory.path(percentEncoded: false))
    }

    public func entry(for key: ImageKey) async -> CachedData? {
        let found = try? await readers.run { [self] () -> CachedData? in
            let name = key.fileName
            let now = clock.now
            switch folder.read(name, key: key, largest: sizeLimit, usedAt: now) {
            case .whole(let entry, let size):
                index.withLock { $0.use(name, size: size, at: now) }
                return entry
            case .absent:
                return nil
            case .damaged:
                index.withLock { $0.remove(name) }
                return nil
            }
        }
        return found ?? nil
    }

    /// Stores `entry` under `key`.
    ///
    /// A full disk makes the cache give up half of what it holds, and try once more.
    ///
    /// - Throws: ``DataCacheError``, or `CancellationError` when the task is cancelled before the writing begins.
    public func store(_ entry: CachedData, for key: ImageKey) async throws {
        try await writer.run { [self] in
            let image = EntryFile.encode(entry, key: key)
            guard image.size <= sizeLimit else {
                throw DataCacheError(.tooLarge, "an entry of \(image.size) bytes exceeds the limit of \(sizeLimit)")
            }
            loadIndexIfNeeded()
            let name = key.fileName
            let now = clock.now
            try write(image, name: name, usedAt: now)
            let total = index.withLock { index in
                index.use(name, size: image.size, at: now)
                return index.totalSize
            }
            if total > sizeLimit { trim(to: sizeLimit / 10 * 9, keeping: name) }
        }
    }

    @discardableResult
    public func remove(_ key: ImageKey) async -> Bool {
        let removed = try? await writer.run { [self] in
            let name = key.fileName
            index.withLock { $0.remove(name) }
            return folder.remove(name)
        }
        return removed ?? false
    }

    public func removeAll() async {
        try? await writer.run { [self] in
            for entry in folder.list() { folder.remove(entry.name) }
            index.withLock { $0 = EntryIndex(entries: []) }
        }
    }

    public var totalSize: Int {
        get async {
            let size = try? await writer.run { [self] in
                loadIndexIfNeeded()
                return index.withLock { $0.totalSize }
            }
            return size ?? 0
        }
    }

    /// Runs on the writer's thread only.
    private func write(_ image: EntryFile.Image, name: String, usedAt date: Date) throws(DataCacheError) {
        do {
            return try folder.write(image, name: name, usedAt: date)
        } catch {
            guard error.code == .noSpace else { throw error }
        }
        trim(to: index.withLock { $0.totalSize } / 2)
        try folder.write(image, name: name, usedAt: date)
    }

    /// Runs on the writer's thread only.
    private func loadIndexIfNeeded() {
        guard index.withLock({ !$0.isLoaded }) else { return }
        folder.removeAbandonedFiles()
        let entries = folder.list()
        index.withLock { $0.merge(entries) }
    }

    /// Runs on the writer's thread only.
    private func trim(to size: Int, keeping kept: String? = nil) {
        let names = index.withLock { $0.leastRecentlyUsed(toReach: size, keeping: kept) }
        for name in names {
            folder.remove(name)
            index.withLock { $0.remove(name) }
        }
    }
}
