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
/// Reads run on two threads of their own and writes on one, so that a hit never waits for a trim. Only the writer
/// removes files, damaged ones too: a reader that saw damage could take away what was stored since.
public final class FileDiskCache: DataCaching {
    /// Where the files are.
    public let directory: URL
    /// Most bytes that the files occupy together.
    public let sizeLimit: Int

    /// nil when the URL is no path; nothing can then be stored.
    private let folder: EntryFolder?
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
        folder = EntryFolder(directory)
    }

    public func entry(for key: ImageKey) async -> CachedData? {
        guard let folder else { return nil }
        let found = try? await readers.run { [self] in read(key, in: folder) }
        if let found, case .whole(let entry, _) = found { return entry }
        guard case .damaged = found else { return nil }
        let again = try? await writer.run { [self] () -> CachedData? in
            if case .whole(let entry, _) = read(key, in: folder) { return entry }
            remove(key.fileName, in: folder)
            return nil
        }
        return again ?? nil
    }

    /// Stores `entry` under `key`.
    ///
    /// A full disk makes the cache give up half of what it holds, and try once more.
    ///
    /// - Throws: ``DataCacheError``, or `CancellationError` when the task is cancelled before the writing begins.
    public func store(_ entry: CachedData, for key: ImageKey) async throws {
        guard let folder else { throw DataCacheError(.notWritable, "\(directory) is not the URL of a directory") }
        try await writer.run { [self] in
            let image = EntryFile.encode(entry, key: key)
            guard image.size <= sizeLimit else {
                throw DataCacheError(.tooLarge, "an entry of \(image.size) bytes exceeds the limit of \(sizeLimit)")
            }
            loadIndexIfNeeded(folder)
            let name = key.fileName
            let now = clock.now
            try write(image, name: name, usedAt: now, in: folder)
            let total = index.withLock { index in
                index.store(name, size: image.size, at: now)
                return index.totalSize
            }
            if total > sizeLimit { trim(folder, to: sizeLimit / 10 * 9, keeping: name) }
        }
    }

    @discardableResult
    public func remove(_ key: ImageKey) async -> Bool {
        await perform { [self] in remove(key.fileName, in: $0) } ?? false
    }

    public func contains(_ key: ImageKey) async -> Bool { false }
    public func removeAll(of resource: ResourceKey) async -> Int { 0 }
    public var count: Int { 0 }

    public func removeAll() async {
        await perform { [self] folder in
            folder.removeAbandonedFiles()
            for entry in folder.list() { folder.remove(entry.name) }
            index.withLock { $0.removeAll() }
        }
    }

    public var totalSize: Int {
        get async {
            let size = await perform { [self] folder in
                loadIndexIfNeeded(folder)
                return index.withLock { $0.totalSize }
            }
            return size ?? 0
        }
    }

    /// Runs work that has no way to say that it was not done on the writer's thread: in a task of its own, which nobody
    /// cancels.
    @discardableResult
    private func perform<Value: Sendable>(_ work: @escaping @Sendable (EntryFolder) -> Value) async -> Value? {
        guard let folder else { return nil }
        return await Task { try? await writer.run { work(folder) } }.value
    }

    /// An absent file that was thought to be there counts as damage.
    private func read(_ key: ImageKey, in folder: EntryFolder) -> EntryFolder.Reading {
        let name = key.fileName
        let now = clock.now
        let changeCount = index.withLock { $0.changeCount }
        let reading = folder.read(name, key: key, largest: sizeLimit, usedAt: now)
        return index.withLock { index in
            switch reading {
            case .whole(_, let size): index.read(name, size: size, at: now, changeCount: changeCount)
            case .absent where index.contains(name): return .damaged
            case .absent, .damaged: break
            }
            return reading
        }
    }

    // What follows runs on the writer's thread only.

    private func write(
        _ image: EntryFile.Image, name: String, usedAt date: Date, in folder: EntryFolder
    ) throws(DataCacheError) {
        do {
            return try folder.write(image, name: name, usedAt: date)
        } catch {
            guard error.code == .noSpace else { throw error }
        }
        trim(folder, to: index.withLock { $0.totalSize } / 2)
        try folder.write(image, name: name, usedAt: date)
    }

    private func loadIndexIfNeeded(_ folder: EntryFolder) {
        guard index.withLock({ !$0.isLoaded }) else { return }
        folder.removeAbandonedFiles()
        let entries = folder.list()
        index.withLock { $0.merge(entries) }
    }

    private func trim(_ folder: EntryFolder, to size: Int, keeping kept: String? = nil) {
        let names = index.withLock { $0.leastRecentlyUsed(toReach: size, keeping: kept) }
        for name in names { remove(name, in: folder) }
    }

    @discardableResult
    private func remove(_ name: String, in folder: EntryFolder) -> Bool {
        defer { index.withLock { $0.remove(name) } }
        return folder.remove(name)
    }
}
