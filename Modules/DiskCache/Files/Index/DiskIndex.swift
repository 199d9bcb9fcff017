import AlcedoCore
import AlcedoLibc
import AlcedoRuntime

/// The index of a directory, in memory and in an index file that all caches of the directory share.
///
/// A new entry is written to the index before its file is published. A removal is written to the index after the file
/// is gone. So, at whatever time a process ends, the index lists all files that the process published. It may also list
/// files that no longer exist. Only one change runs at a time. A change holds the lock of the index file until the
/// change ends.
final class DiskIndex: Sendable {
    /// The maximum number of entries in a slice. Other readers wait while a slice is copied.
    static let sliceCount = 1024

    private let files: EntryDirectory
    /// The approximate time to wait for the lock of another cache. An ended process holds no lock. A stopped process
    /// may hold one.
    private let lockTimeout: Duration
    private let state: Locked<IndexState>
    /// The lock that serializes the changes of this object. The file's lock excludes only the changes of other objects.
    /// Only threads that may block take this lock, because it is held during file operations.
    private let changeLock = Locked(())
    private let onEviction: @Sendable ([IndexEntry]) -> Void

    /// - Parameters:
    ///   - files: The files of the entries.
    ///   - lockTimeout: The approximate time to wait for the lock of another cache.
    ///   - bootHash: The hash of the current boot's identifier.
    ///   - onEviction: A closure that receives the entries that were removed to make space for the index. It is called
    ///     during a change.
    init(
        _ files: EntryDirectory, lockTimeout: Duration, bootHash: UInt64,
        onEviction: @escaping @Sendable ([IndexEntry]) -> Void
    ) {
        self.files = files
        self.lockTimeout = lockTimeout
        self.onEviction = onEviction
        state = Locked(
            IndexState(
                suffixHash: XXH64.hash(files.paths.suffixRule.utf8Span.span.bytes), bootHash: bootHash,
                hook: files.paths.hook))
    }

    private var path: String { files.paths.directory }

    private var filePath: String { "\(path)/\(IndexFile.name)" }

    // MARK: Reading

    /// Looks up an entry, and records a use if it is present. Also returns the number of unwritten uses.
    func use(_ name: EntryName, at now: Timestamp, limits: DataCacheLimits) -> (IndexState.Lookup, uses: Int) {
        state.withLock { ($0.use(name, at: now, limits: limits, in: path), $0.unwrittenUses.count) }
    }

    /// Does the same without waiting for another thread and without reading the file. Returns nil if that is not
    /// possible.
    func useAtOnce(
        _ name: EntryName, at now: Timestamp, limits: DataCacheLimits
    ) -> (IndexState.Lookup, uses: Int)? {
        let found = state.withLockIfAvailable { state in
            state.useAtOnce(name, at: now, limits: limits).map { ($0, uses: state.unwrittenUses.count) }
        }
        return found ?? nil
    }

    func find(_ name: EntryName, at now: Timestamp, limits: DataCacheLimits) -> IndexState.Lookup {
        state.withLock { state in
            state.refresh(path)
            return state.find(name, at: now, limits: limits)
        }
    }

    /// Returns the result of `body` for the table in its present state. Does not read the file.
    func read<Result>(_ body: (IndexTable) -> Result) -> Result { state.withLock { body($0.table) } }

    /// Whether the cache's directory is absent, and no index file of the directory is open. A directory that cannot be
    /// reached, for example because a parent cannot be searched, does not count as absent.
    var isMissing: Bool {
        state.withLock { $0.file == nil } && access(path, F_OK) != 0 && [ENOENT, ENOTDIR, ELOOP].contains(errno)
    }

    /// Reads the index. If it is incomplete, tries to reconcile it with the files.
    ///
    /// - Returns: The reason why the index may lack entries, or nil if it is complete or the directory does not exist.
    @discardableResult
    func load() -> DataCacheError? {
        guard !isLoaded else { return nil }
        do throws(DataCacheError) {
            try change { _ throws(DataCacheError) in }
            return nil
        } catch {
            return error
        }
    }

    /// Whether the index has all entries, or the cache's directory does not exist. The property reads the changes that
    /// other processes have made. It does not wait for other processes.
    var isLoaded: Bool {
        let isComplete = state.withLock { state in
            state.refresh(path)
            return state.isComplete
        }
        return isComplete || isMissing
    }

    /// The total number of bytes, and the number of entries. The property loads the index.
    var totals: (size: Int, count: Int) {
        load()
        return read { ($0.totalSize, $0.count) }
    }

    /// Copies the entries at the highest positions below `end`, at most ``sliceCount`` of them. The limit keeps the
    /// wait of other readers short.
    ///
    /// To visit all entries, begin with `Int.max`, and pass each returned position to the next call until it is zero.
    /// Entries that are stored during the iteration may be missing. If an entry is removed during the iteration,
    /// another entry may occur twice. If the table is read again from the file during the iteration, any entry may be
    /// missing.
    ///
    /// - Returns: The entries, and the position of the first one.
    func slice(below end: Int) -> (entries: [IndexEntry], start: Int) {
        read { table in
            let end = min(end, table.count)
            let start = max(0, end - Self.sliceCount)
            return (Array(table.entries[start..<end]), start)
        }
    }

    /// Calls `body` with all entries, one slice at a time. Readers wait only while a slice is copied. An entry may
    /// occur more than once. Entries that are stored meanwhile may be missing. If the table is read again from the file
    /// meanwhile, any entry may be missing.
    func forEachSlice(_ body: ([IndexEntry]) -> Void) {
        var end = Int.max
        while end > 0 {
            let slice = slice(below: end)
            end = slice.start
            body(slice.entries)
        }
    }

    /// Returns a copy of the table, made in slices like ``forEachSlice(_:)``.
    func copy() -> IndexTable {
        var copy = IndexTable()
        copy.reserve(read(\.count))
        forEachSlice { for entry in $0 { copy.put(entry) } }
        return copy
    }

    var hasUnwrittenUses: Bool { state.withLock { !$0.unwrittenUses.isEmpty } }

    // MARK: Changing

    /// The operations for the owner of the lock. Valid until the lock is released.
    struct Change {
        fileprivate let index: DiskIndex
        let file: IndexFile

        func read<Result>(_ body: (IndexTable) -> Result) -> Result { index.read(body) }

        func takeUseNumber() -> Int64 { index.state.withLock { $0.takeUseNumber() } }

        /// Writes the unwritten uses and `records` to the file, and applies the records to the table. After an error,
        /// the table is unchanged.
        func append(_ records: [IndexRecord]) throws(DataCacheError) {
            let failure = index.state.withLock { state in
                state.append(records) ? nil : SystemError(number: errno)
            }
            if let failure { throw failure.cacheError("write to", index.path) }
        }

        /// Records removals that have already happened. If the index file cannot be written to, only the table in
        /// memory records them.
        func recordRemovals(_ names: [EntryName]) {
            let records = names.map { IndexRecord.removed($0) }
            index.state.withLock { state in
                if !state.append(records) { for record in records { state.apply(record) } }
            }
        }
    }

    /// Runs `body` under the lock, after reading all changes of other caches. Blocks.
    ///
    /// Creates a missing directory and a missing index file. Reconciles an incomplete index with the files before it
    /// runs `body`.
    ///
    /// - Throws: The errors of `body`. `DataCacheError` if another cache holds the lock for longer than the timeout, or
    ///   if the index cannot be opened, reconciled or written.
    func change<Result>(
        _ body: (Change) throws(DataCacheError) -> Result
    ) throws(DataCacheError) -> Result {
        try changeLock.withLock { (_: inout Void) throws(DataCacheError) -> Result in try changeLocked(body) }
    }

    /// Runs `body` while this object runs no change. Does not lock the file, so other caches may run changes.
    func excludingChanges<Result>(_ body: () -> Result) -> Result { changeLock.withLock { _ in body() } }

    private func changeLocked<Result>(
        _ body: (Change) throws(DataCacheError) -> Result
    ) throws(DataCacheError) -> Result {
        while true {
            let file = try open()
            guard file.lock(timeout: lockTimeout) else {
                throw DataCacheError(.failed, "another process holds the lock of the index in \(path)")
            }
            defer { file.descriptor.unlock() }
            // Another process may have replaced the file meanwhile.
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
            // Compaction may fail, for example on a full disk. Then the old file stays in use.
            if state.withLock({ $0.isWasteful }) { try? compact() }
            return result
        }
    }

    /// Reconciles the index with the files even if the index is complete. Lists all names.
    func reconcileNow() throws(DataCacheError) {
        try change { _ throws(DataCacheError) in try reconcile(trustsTable: true) }
    }

    /// Returns the index file that is at the path now, opened for writing. Creates the file and the directory if they
    /// are missing. Removes anything else that has the name of the file.
    private func open() throws(DataCacheError) -> IndexFile {
        var failure = SystemError(number: ENOENT)
        for _ in 0..<3 {
            if let file = state.withLock({ $0.file }), file.isWritable, file.isAt(filePath) { return file }
            do throws(SystemError) {
                let opened = try IndexFile(in: path, makesFile: true, hook: files.paths.hook)
                state.withLock { $0.install(opened) }
                return opened
            } catch {
                failure = error
            }
            switch failure.number {
            case ENOENT: try files.makeDirectory(path)
            // Something else, such as a symbolic link or a directory, has the name of the index file.
            case ELOOP, EISDIR, ENXIO: files.clear(filePath)
            default: throw failure.cacheError("write to", path)
            }
        }
        throw failure.cacheError("write to", path)
    }

    /// Reconciles the index with the files. Lists the names of all files. Reads the trailer of each file that the table
    /// lacks or may describe incorrectly. Writes a new index file.
    ///
    /// Removes abandoned temporary files. If a file whose trailer was read is not an entry, removes the file. Changes
    /// other path extensions to the cache's where possible. If the files have the extensions of their resources, reads
    /// the trailer of each file that has another extension than the table says, or whose extension another rule gave.
    ///
    /// - Parameter trustsTable: Whether an entry of the table counts as correct if its file exists. Pass false for a
    ///   damaged index, which may have lost changes. The trailer of a file is then also read if the file's length or
    ///   date differs from its entry.
    private func reconcile(trustsTable: Bool) throws(DataCacheError) {
        files.removeAbandonedFiles()
        let (bootHashes, hasSuffixes) = state.withLock { ($0.bootHashes, $0.hasSuffixes) }
        let paths = files.paths
        var table = trustsTable ? copy() : state.withLock { $0 }.salvaged()
        var hasFile = [Bool](repeating: false, count: table.count)
        var found: [(name: EntryName, otherSuffix: [UInt8]?)] = []
        do throws(SystemError) {
            try files.forEachName { name, otherSuffix in
                var otherSuffix = otherSuffix
                if let other = otherSuffix, !paths.keepsPathExtensions {
                    guard files.rename(name, from: other) else { return }
                    otherSuffix = nil
                }
                let position = table.position(of: name)
                if let position { hasFile[position] = true }
                guard let position, otherSuffix == nil, hasSuffixes || !paths.keepsPathExtensions,
                    paths.suffix(of: table[position].name) == paths.suffix(of: name),
                    trustsTable || isUnchanged(table[position])
                else { return found.append((name, otherSuffix)) }
            }
        } catch {
            throw error.cacheError("list", path)
        }
        let missing = hasFile.indices.filter { !hasFile[$0] }.map { table[$0].name }
        for name in missing { table.remove(name) }
        for (name, otherSuffix) in found {
            var known = table.position(of: name).map { table[$0] }
            guard let entry = try adopted(name, otherSuffix) else {
                table.remove(name)
                continue
            }
            let suffix = otherSuffix ?? paths.suffix(of: name)
            if suffix != paths.suffix(of: entry.name), !files.rename(entry.name, from: suffix) {
                // The right name may be taken by another file of the entry, which is listed, too.
                if !files.contains(entry.name) { table.remove(name) }
                continue
            }
            if known?.name.suffixNumber != entry.name.suffixNumber { known?.name = entry.name }
            if known?.storedAt != entry.storedAt || known?.file != entry.file { known = entry }
            if let known { table.put(known) }
        }
        try makeRoom(for: table, bootHashes)
    }

    /// Returns whether a file's length equals the length in the index, and its modification date differs from the date
    /// of storing in the index by less than two seconds.
    private func isUnchanged(_ entry: IndexEntry) -> Bool {
        guard let (length, written) = files.lengthAndDate(of: entry.name) else { return false }
        return length == entry.file.length && abs(written - Double(entry.storedAt.milliseconds) / 1000) < 2
    }

    /// Writes a table to a new index file.
    ///
    /// If the disk is full, the least recently used entries are removed, an eighth at a time, to make space for the
    /// file. Without an index, the cache could not apply its limits.
    private func makeRoom(for table: IndexTable, _ bootHashes: [UInt64]) throws(DataCacheError) {
        var table = table
        defer { state.withLock { $0.abandon() } }
        while true {
            state.withLock { $0.replace(table) }
            let failure: DataCacheError
            do throws(DataCacheError) {
                return try write(
                    IndexHeader(entryCount: table.count, suffixRule: files.paths.suffixRule, bootHashes: bootHashes))
            } catch {
                guard error.code == .noSpace else { throw error }
                failure = error
            }
            var oldest = OldestEntries(count: table.count / 8)
            for entry in table.entries { oldest.add(entry) }
            var evicted: [IndexEntry] = []
            for candidate in oldest.takeAll() where files.remove(candidate.name) || !files.contains(candidate.name) {
                guard let position = table.position(of: candidate.name) else { continue }
                evicted.append(table[position])
                table.remove(candidate.name)
            }
            guard !evicted.isEmpty else { throw failure }
            onEviction(evicted)
        }
    }

    /// Replaces the index file with one that has no outdated records.
    private func compact() throws(DataCacheError) {
        let header = state.withLock { state in
            IndexHeader(
                entryCount: state.table.count, replacing: (state.file?.header?.generation ?? 0, state.end),
                suffixRule: files.paths.suffixRule, bootHashes: state.bootHashes)
        }
        try write(header)
    }

    /// Returns an index entry made from the trailer of a file, with the path extension that the file should have. If
    /// the file is not an entry, removes the file and returns nil. Also returns nil if the file cannot be read for a
    /// reason that may concern only this file.
    ///
    /// - Parameters:
    ///   - name: The name of the entry.
    ///   - suffix: The path extension of the file if it differs from that of the name.
    private func adopted(_ name: EntryName, _ suffix: [UInt8]?) throws(DataCacheError) -> IndexEntry? {
        let summary: EntryDirectory.Summary?
        do throws(SystemError) {
            summary = try files.summary(name, suffix: suffix)
        } catch {
            // Other files may still be readable.
            if error.isOfOneFile { return nil }
            throw error.cacheError("list", path)
        }
        guard let summary else {
            files.remove(name, suffix: suffix)
            return nil
        }
        return IndexEntry(
            name: EntryName(words: name.words, suffixNumber: summary.suffixNumber), resourceHash: summary.resourceHash,
            file: summary.size, storedAt: summary.trailer.storedAt, lastUse: summary.trailer.storedAt,
            expiry: summary.trailer.expiry, useNumber: IndexEntry.neverUsed)
    }

    /// Writes a new index file, and replaces the old one with it. Only uses may change the table meanwhile.
    private func write(_ header: IndexHeader) throws(DataCacheError) {
        let file = try files.makeUnfinishedFile()
        var end = 0
        try write(header.encoded, to: file, at: &end)
        for start in stride(from: 0, to: header.entryCount, by: Self.sliceCount) {
            let positions = start..<min(start + Self.sliceCount, header.entryCount)
            let bytes = state.withLock { state in
                state.snapshot(positions, of: header.entryCount, generation: header.generation)
            }
            guard let bytes else { throw DataCacheError(.failed, "the cache directory \(path) was removed") }
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
