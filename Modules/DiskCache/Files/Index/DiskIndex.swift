import AlcedoCore
import AlcedoLibc
import AlcedoRuntime

/// What a directory holds, in memory and in an index file that all caches on the directory share.
///
/// A change is written to the file before the entry's own file takes its place, and after it is gone: the index tells of
/// every file, and of some that are not there any more, whoever dies when. Changes are made one at a time, by whoever has
/// the file's lock, which is held for the change only.
final class DiskIndex: Sendable {
    /// Entries that are looked at under the lock at once: some tens of microseconds.
    static let sliceCount = 1024

    private let files: EntryDirectory
    /// Longest wait for another process. One that died keeps nobody; one that was stopped does.
    private let lockTimeout: Duration
    private let state: Locked<IndexState>
    /// Keeps this process's own threads apart, which the file's lock does not. Held while files are changed: for threads
    /// that may block.
    private let changeLock = Locked(())

    init(_ files: EntryDirectory, lockTimeout: Duration, bootHash: UInt64) {
        self.files = files
        self.lockTimeout = lockTimeout
        state = Locked(
            IndexState(suffixHash: XXH64.hash(files.paths.suffix.utf8Span.span.bytes), bootHash: bootHash))
    }

    /// Of the directory.
    private var path: String { files.paths.directory }

    private var filePath: String { "\(path)/\(IndexFile.name)" }

    // MARK: For everybody

    /// Looks for an entry, and notes a use of what is present. Returns whether many uses are unwritten, too.
    func use(_ name: EntryName, at now: Timestamp, limits: DataCacheLimits) -> (IndexState.Lookup, uses: Int) {
        state.withLock { ($0.use(name, at: now, limits: limits, in: path), $0.unwrittenUses.count) }
    }

    func find(_ name: EntryName, at now: Timestamp, limits: DataCacheLimits) -> IndexState.Lookup {
        state.withLock { state in
            state.refresh(path)
            return state.find(name, at: now, limits: limits)
        }
    }

    /// Looks at the table as it is, without the file.
    func read<Result>(_ body: (IndexTable) -> Result) -> Result { state.withLock { body($0.table) } }

    /// Whether there is nothing, not even a directory.
    var isMissing: Bool {
        state.withLock { $0.file == nil } && access(path, F_OK) != 0
    }

    /// Reads what there is, from the files' names where the index does not tell. In a place that cannot be written to, what
    /// is known has to do.
    ///
    /// - Returns: Why there may be more than is known; nil when there is not.
    @discardableResult
    func load() -> DataCacheError? {
        let isComplete = state.withLock { state in
            state.refresh(path)
            return state.isComplete
        }
        guard !isComplete, !isMissing else { return nil }
        do throws(DataCacheError) {
            try change { _ throws(DataCacheError) in }
            return nil
        } catch {
            return error
        }
    }

    /// Bytes and number of the entries.
    var totals: (size: Int, count: Int) {
        load()
        return read { ($0.totalSize, $0.count) }
    }

    /// Copies what is known of the entries at some places below `end`, so few that no reader waits long.
    ///
    /// A walk over all goes downwards: then it meets an entry twice when another is removed, but misses none.
    ///
    /// - Returns: The entries, and the place of the first.
    func slice(below end: Int) -> (entries: [IndexEntry], start: Int) {
        read { table in
            let end = min(end, table.count)
            let start = max(0, end - Self.sliceCount)
            return (Array(table.entries[start..<end]), start)
        }
    }

    /// Looks at all entries, without keeping readers waiting. One may come twice; of those that are stored meanwhile, none
    /// need come.
    func forEachSlice(_ body: ([IndexEntry]) -> Void) {
        var end = Int.max
        while end > 0 {
            let slice = slice(below: end)
            end = slice.start
            body(slice.entries)
        }
    }

    /// The table, copied without keeping readers waiting.
    func copy() -> IndexTable {
        var copy = IndexTable()
        copy.reserve(read(\.count))
        forEachSlice { for entry in $0 { copy.put(entry) } }
        return copy
    }

    var hasUnwrittenUses: Bool { state.withLock { !$0.unwrittenUses.isEmpty } }

    // MARK: For one at a time

    /// What the lock's owner may do, for as long as it is the owner.
    struct Change {
        fileprivate let index: DiskIndex
        /// The index's, in the directory that it tells of.
        let file: IndexFile

        func read<Result>(_ body: (IndexTable) -> Result) -> Result { index.read(body) }

        func takeUseNumber() -> Int64 { index.state.withLock { $0.takeUseNumber() } }

        /// Notes changes, in memory and in the file.
        func append(_ records: [IndexRecord]) throws(DataCacheError) {
            let failure = index.state.withLock { state in
                state.append(records) ? nil : SystemError(number: errno)
            }
            if let failure { throw failure.cacheError("write to", index.path) }
        }

        /// Notes what has happened to files already. Where the file cannot be written to, the index tells of files that are
        /// not there, which does no harm.
        func recordRemovals(_ names: [EntryName]) {
            let records = names.map { IndexRecord.removed($0) }
            index.state.withLock { state in
                if !state.append(records) { for record in records { state.apply(record) } }
            }
        }
    }

    /// Runs `body` alone among all processes, knowing all that they have done. Blocks.
    func change<Result>(
        _ body: (Change) throws(DataCacheError) -> Result
    ) throws(DataCacheError) -> Result {
        try changeLock.withLock { (_: inout Void) throws(DataCacheError) -> Result in try changeLocked(body) }
    }

    private func changeLocked<Result>(
        _ body: (Change) throws(DataCacheError) -> Result
    ) throws(DataCacheError) -> Result {
        while true {
            let file = try open()
            guard file.lock(timeout: lockTimeout) else {
                throw DataCacheError(.failed, "another process keeps the index of \(path)")
            }
            defer { file.descriptor.unlock() }
            // Somebody may have put another file in its place meanwhile.
            guard file.isAt(filePath) else {
                state.withLock { $0.refresh(path) }
                continue
            }
            let (isComplete, isIntact) = state.withLock { state in
                state.refresh(path)
                let isCurrent = state.file === file
                return (isCurrent && state.isComplete, isCurrent && state.isIntact)
            }
            guard isComplete else {
                try reconcile(trustsTable: isIntact)
                continue
            }
            let result = try body(Change(index: self, file: file))
            // Without room for a new file the old one stays.
            if state.withLock({ $0.isWasteful }) { try? compact() }
            return result
        }
    }

    /// Makes the index tell what is there, whatever it tells now. Looks at all names.
    func reconcileNow() throws(DataCacheError) {
        try change { _ throws(DataCacheError) in try reconcile(trustsTable: true) }
    }

    /// The index file that is at the path now, made if there is none.
    private func open() throws(DataCacheError) -> IndexFile {
        var failure = SystemError(number: ENOENT)
        for _ in 0..<3 {
            if let file = state.withLock({ $0.file }), file.isWritable, file.isAt(filePath) { return file }
            do throws(SystemError) {
                let opened = try IndexFile(in: path, makesFile: true)
                state.withLock { $0.install(opened) }
                return opened
            } catch {
                failure = error
            }
            switch failure.number {
            case ENOENT: try files.makeDirectory(path)
            // A link, a folder or a pipe in its place.
            case ELOOP, EISDIR, ENXIO: files.clear(filePath)
            default: throw failure.cacheError("write to", path)
            }
        }
        throw failure.cacheError("write to", path)
    }

    /// Makes the index tell what is there. Looks at all names, and into the files that the index does not know.
    ///
    /// - Parameter trustsTable: Whether what the table tells of an entry is right if its file is there. A damaged index has
    ///   lost some changes: then what its whole records tell is right of files that have not been written since.
    private func reconcile(trustsTable: Bool) throws(DataCacheError) {
        files.removeAbandonedFiles()
        let bootHashes = state.withLock { $0.bootHashes }
        var table = trustsTable ? copy() : state.withLock { $0 }.salvaged()
        var isThere = [Bool](repeating: false, count: table.count)
        var found: [EntryName] = []
        do throws(SystemError) {
            try files.forEachName { name, otherSuffix in
                if let otherSuffix, !files.rename(name, from: otherSuffix) { return }
                let position = table.position(of: name)
                if let position { isThere[position] = true }
                guard let position, trustsTable || isUnchanged(table[position]) else { return found.append(name) }
            }
        } catch {
            throw error.cacheError("look into", path)
        }
        let missing = isThere.indices.filter { !isThere[$0] }.map { table[$0].name }
        for name in missing { table.remove(name) }
        for name in found {
            let known = table.position(of: name).map { table[$0] }
            guard let entry = try adopted(name) else {
                table.remove(name)
                continue
            }
            if known?.storedAt != entry.storedAt || known?.file != entry.file { table.put(entry) }
        }
        try makeRoom(for: table, bootHashes)
    }

    /// Whether a file is as long as it was, and as old, as far as its dates can tell.
    private func isUnchanged(_ entry: IndexEntry) -> Bool {
        guard let (length, written) = files.lengthAndDate(of: entry.name) else { return false }
        return length == entry.file.length && abs(written - Double(entry.storedAt.milliseconds) / 1000) < 2
    }

    /// Writes the index of a directory that had none. On a full disk entries make room for it, an eighth of them at a time:
    /// without an index nothing could be removed.
    private func makeRoom(for table: IndexTable, _ bootHashes: [UInt64]) throws(DataCacheError) {
        var table = table
        defer { state.withLock { $0.abandon() } }
        while true {
            state.withLock { $0.replace(table) }
            let failure: DataCacheError
            do throws(DataCacheError) {
                return try write(
                    IndexHeader(entryCount: table.count, suffix: files.paths.suffix, bootHashes: bootHashes))
            } catch {
                guard error.code == .noSpace else { throw error }
                failure = error
            }
            let count = table.count
            var oldest = OldestEntries(count: table.count / 8)
            for entry in table.entries { oldest.add(entry) }
            for candidate in oldest.takeAll() where files.remove(candidate.name) || !files.contains(candidate.name) {
                table.remove(candidate.name)
            }
            if table.count == count { throw failure }
        }
    }

    /// Writes what is known to a new file, without what no longer matters.
    private func compact() throws(DataCacheError) {
        let header = state.withLock { state in
            IndexHeader(
                entryCount: state.table.count, replacing: (state.file?.header?.generation ?? 0, state.end),
                suffix: files.paths.suffix, bootHashes: state.bootHashes)
        }
        try write(header)
    }

    /// What a file tells of itself; a file that is no entry goes.
    private func adopted(_ name: EntryName) throws(DataCacheError) -> IndexEntry? {
        let summary: EntryDirectory.Summary?
        do throws(SystemError) {
            summary = try files.summary(name)
        } catch {
            // A file that nobody can read is not to be had; another one may be.
            if error.isOfOneFile { return nil }
            throw error.cacheError("look into", path)
        }
        guard let summary else {
            files.remove(name)
            return nil
        }
        return IndexEntry(
            name: name, resourceHash: summary.resourceHash, file: summary.size, storedAt: summary.trailer.storedAt,
            lastUse: summary.trailer.storedAt, expiry: summary.trailer.expiry, useNumber: IndexEntry.neverUsed)
    }

    /// Puts a new index file in the place of the old one. Nobody changes the table meanwhile, but its uses.
    private func write(_ header: IndexHeader) throws(DataCacheError) {
        let file = try files.makeUnfinishedFile()
        var end = 0
        try write(header.encoded, to: file, at: &end)
        for start in stride(from: 0, to: header.entryCount, by: Self.sliceCount) {
            let positions = start..<min(start + Self.sliceCount, header.entryCount)
            let bytes = state.withLock { state in
                state.snapshot(positions, of: header.entryCount, generation: header.generation)
            }
            guard let bytes else { throw DataCacheError(.failed, "the cache directory \(path) has vanished") }
            try write(bytes, to: file, at: &end)
        }
        do throws(SystemError) {
            try file.move(to: filePath)
        } catch {
            throw error.cacheError("write to", path)
        }
        state.withLock { $0.follow(path, generation: header.generation) }
    }

    private func write(_ bytes: [UInt8], to file: UnfinishedFile, at end: inout Int) throws(DataCacheError) {
        guard file.descriptor.write(bytes, at: end) else {
            throw SystemError(number: errno).cacheError("write to", path)
        }
        end += bytes.count
    }
}
