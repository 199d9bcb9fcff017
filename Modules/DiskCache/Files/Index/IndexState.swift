import AlcedoCore
import AlcedoLibc
import AlcedoRuntime

/// The index in memory, and the position up to which its file has been read. Some methods read the file, so they
/// may block.
struct IndexState: Sendable {
    enum Lookup {
        /// The index has the entry. The entry's file belongs in the directory of `indexFile`.
        case present(IndexEntry, indexFile: IndexFile)
        case expired
        case absent
        /// The index is incomplete or being replaced. Only the entry's file shows whether the entry exists.
        case unknown
    }

    /// The number of unwritten uses at which a write of the uses is due. Other processes, and this process after a
    /// restart, read the written uses from the file.
    static let maximumUnwrittenUseCount = 512

    private(set) var table = IndexTable()
    /// Whether the table contained all records of the file when the file was last read or written.
    private(set) var isIntact = false
    /// The hash of the rule by which the entries' files have their path extensions.
    private let suffixHash: UInt64
    private let bootHash: UInt64
    /// A closure that may let operations on the file fail.
    private let hook: FileHook?
    private(set) var file: IndexFile?
    /// The number of bytes of the file that the table covers.
    private(set) var end = 0
    private(set) var recordCount = 0
    private var nextUse: Int64 = 1
    /// Whether the table is about to be written to a new file. Meanwhile, no records are read.
    private var isReplacing = false
    /// The entries with uses that have to be written to the file.
    private(set) var unwrittenUses: Set<EntryName> = []

    /// Whether the file has so many outdated records that it should be replaced.
    var isWasteful: Bool { recordCount > 2 * table.count + 8192 }

    init(suffixHash: UInt64, bootHash: UInt64 = IndexHeader.bootHash, hook: FileHook? = nil) {
        self.suffixHash = suffixHash
        self.bootHash = bootHash
        self.hook = hook
    }

    /// Whether the table contains every entry of the directory. This is certain only if the file is intact, was written
    /// for the present path extensions, and is known to be complete in the current boot.
    var isComplete: Bool {
        guard isIntact, hasSuffixes, let header = file?.header else { return false }
        return header.bootHashes.contains(bootHash)
    }

    /// Whether the file was written for the present path extensions.
    var hasSuffixes: Bool { file?.header?.suffixHash == suffixHash }

    /// The hashes of the boots for the header of a new file: the current boot, and the boots of the present file.
    var bootHashes: [UInt64] { [bootHash] + (file?.header?.bootHashes ?? []).filter { $0 != bootHash } }

    // MARK: Looking up

    /// Looks up an entry, and records a use if it is present.
    mutating func use(_ name: EntryName, at now: Timestamp, limits: DataCacheLimits, in path: String) -> Lookup {
        var lookup = find(name, at: now, limits: limits)
        if case .present = lookup {
        } else {
            // Another process may have stored or used the entry.
            refresh(path)
            lookup = find(name, at: now, limits: limits)
        }
        return recordUse(of: name, lookup, at: now, limits: limits)
    }

    /// Does the same without reading the file. Returns nil if the lookup needs the file.
    mutating func useAtOnce(_ name: EntryName, at now: Timestamp, limits: DataCacheLimits) -> Lookup? {
        let lookup = find(name, at: now, limits: limits)
        switch lookup {
        case .present: return recordUse(of: name, lookup, at: now, limits: limits)
        case .absent: return file?.status.map { !$0.isGone && $0.size == end } == true ? lookup : nil
        case .expired, .unknown: return nil
        }
    }

    private mutating func recordUse(
        of name: EntryName, _ lookup: Lookup, at now: Timestamp, limits: DataCacheLimits
    ) -> Lookup {
        guard case .present(var entry, let file) = lookup, let position = table.position(of: name) else {
            return lookup
        }
        entry.expiry = limits.expiry(entry.expiry, after: entry.lastUse, usedAt: now)
        entry.lastUse = limits.lastUse(entry.lastUse, usedAt: now)
        table.setUse(position, at: entry.lastUse, number: takeUseNumber(), expiry: entry.expiry)
        unwrittenUses.insert(name)
        return .present(entry, indexFile: file)
    }

    func find(_ name: EntryName, at now: Timestamp, limits: DataCacheLimits) -> Lookup {
        guard let position = table.position(of: name), let file else { return isComplete ? .absent : .unknown }
        let entry = table[position]
        let isExpired = limits.isOver(
            storedAt: entry.storedAt, lastUse: entry.lastUse, expiry: entry.expiry, now: now)
        return isExpired ? .expired : .present(entry, indexFile: file)
    }

    mutating func takeUseNumber() -> Int64 {
        defer { nextUse &+= 1 }
        return nextUse
    }

    // MARK: Reading

    /// Reads new records of the file, or opens the file that has replaced it. If there is no usable file, clears the
    /// table. Does nothing while a new table is being written.
    ///
    /// - Parameter path: The path of the directory.
    mutating func refresh(_ path: String) {
        guard !isReplacing else { return }
        if let file {
            guard let status = file.status else { return forget() }
            readOn(to: status.size)
            guard status.isGone else { return }
        }
        open(path)
    }

    private mutating func open(_ path: String) {
        guard let opened = try? IndexFile(in: path, makesFile: false, hook: hook) else { return forget() }
        install(opened)
    }

    /// Continues with an opened file, and reads its records. Skips the initial records if the table already has them.
    mutating func install(_ opened: IndexFile) {
        if let old = file, let header = opened.header, isIntact, header.entryCount == table.count,
            header.replaced.generation == old.header?.generation, header.replaced.size == end
        {
            // The file replaces the present one, and its initial records are the entries of the table.
            begin(opened, table.count)
        } else {
            forget()
            begin(opened, 0)
        }
        if let size = opened.status?.size { readOn(to: size) }
    }

    /// Replaces the content with `table`. Until ``follow(_:generation:)`` or ``abandon()`` is called, lookups do not
    /// read the old file again.
    mutating func replace(_ table: IndexTable) {
        forget()
        self.table = table
        isReplacing = true
    }

    /// Discards a table that could not be written. The next lookup reads the file that exists. Does nothing if the
    /// table was written.
    mutating func abandon() {
        guard isReplacing else { return }
        isReplacing = false
        forget()
    }

    /// Returns the records of the entries at `positions`, for a file that replaces this one. Returns nil if the table
    /// no longer has `count` entries.
    func snapshot(_ positions: Range<Int>, of count: Int, generation: UInt64) -> [UInt8]? {
        guard table.count == count else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(positions.count * IndexRecord.size)
        for position in positions { IndexRecord.entry(table[position]).append(to: &bytes, generation: generation) }
        return bytes
    }

    /// Continues with the index file in the directory at `path`. The file was just written from the table, so its
    /// initial records are not read. If the file cannot be opened, or is not the one that was written, clears the
    /// table.
    mutating func follow(_ path: String, generation: UInt64) {
        isReplacing = false
        guard let opened = try? IndexFile(in: path, makesFile: false, hook: hook), let header = opened.header,
            header.generation == generation, header.entryCount == table.count
        else { return forget() }
        begin(opened, table.count)
        isIntact = true
    }

    private mutating func begin(_ opened: IndexFile, _ count: Int) {
        file = opened
        recordCount = count
        end = IndexHeader.size + count * IndexRecord.size
    }

    private mutating func forget() {
        table.removeAll()
        unwrittenUses = []
        file = nil
        isIntact = false
        (end, recordCount) = (0, 0)
    }

    private mutating func readOn(to size: Int) {
        readRecords(to: size)
        // Unread bytes may be damaged, or another process may be writing them. The owner of the lock can tell the two
        // apart. Missing bytes are damage.
        isIntact = file?.header.map { recordCount >= max($0.entryCount, $0.writtenCount) && end == size } ?? false
    }

    /// Returns the table with the records that can still be read, including those that follow damaged ones. Only the
    /// owner of the lock may call this function, because no other process writes to the file then.
    consuming func salvaged() -> IndexTable {
        guard file?.header != nil, let size = file?.status?.size else { return table }
        while end < size {
            readRecords(to: size)
            // Skip the damaged record.
            end += IndexRecord.size
        }
        return table
    }

    private mutating func readRecords(to size: Int) {
        guard size > end, let file, let generation = file.header?.generation else { return }
        // A damaged file may be arbitrarily large.
        if recordCount == 0 { table.reserve(min(1 << 20, (size - end) / IndexRecord.size)) }
        let byteCount = min(size - end, 1024 * IndexRecord.size)
        withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { buffer in
            while end < size {
                guard let count = try? file.descriptor.read(into: buffer, at: end), count >= IndexRecord.size else {
                    return
                }
                guard apply(UnsafeRawBufferPointer(rebasing: buffer[..<count]), generation: generation) else { return }
            }
        }
    }

    /// Applies the records in a part of the file, up to the first damaged one. Returns false if a record is damaged.
    private mutating func apply(_ piece: UnsafeRawBufferPointer, generation: UInt64) -> Bool {
        let starts = stride(from: 0, through: piece.count - IndexRecord.size, by: IndexRecord.size)
        var positions: Int32 = 0
        for start in starts { positions |= table.prefetch(IndexRecord.hash(piece, at: start)) }
        for start in starts {
            let bytes = UnsafeRawBufferPointer(rebasing: piece[start..<start + IndexRecord.size])
            guard let record = IndexRecord(bytes.bytes, generation: generation) else { return false }
            apply(record)
            end += IndexRecord.size
            recordCount += 1
        }
        // The comparison uses the positions, so that the compiler keeps the reads above. It is always true: positions
        // have 31 bits, or are -1.
        return positions >= -1
    }

    // MARK: Changing

    mutating func apply(_ record: IndexRecord) {
        switch record {
        case .entry(let entry):
            table.put(entry)
            nextUse = max(nextUse, entry.useNumber &+ 1)
        case .removed(let name):
            table.remove(name)
            unwrittenUses.remove(name)
        case .removedAll:
            table.removeAll()
            unwrittenUses = []
        }
    }

    /// Writes the records and the unwritten uses, and then applies the records. Only the owner of the lock may call
    /// this.
    ///
    /// - Returns: Whether the records were written. Otherwise, the table is unchanged, and `errno` has the reason. The
    ///   reason is `ENOENT` if no file with a valid header is open.
    mutating func append(_ records: [IndexRecord]) -> Bool {
        guard let file, let generation = file.header?.generation else {
            errno = ENOENT
            return false
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity((records.count + unwrittenUses.count) * IndexRecord.size)
        for name in unwrittenUses {
            guard let position = table.position(of: name) else { continue }
            IndexRecord.entry(table[position]).append(to: &bytes, generation: generation)
        }
        for record in records { record.append(to: &bytes, generation: generation) }
        guard file.descriptor.write(bytes, at: end) else {
            let number = errno
            file.descriptor.truncate(to: end)
            errno = number
            return false
        }
        // The set will usually become as large again.
        unwrittenUses.removeAll(keepingCapacity: unwrittenUses.count <= 2 * Self.maximumUnwrittenUseCount)
        end += bytes.count
        recordCount += bytes.count / IndexRecord.size
        // Without this number, a file that was truncated at the end of a record would look whole. If this write fails,
        // only that check is lost.
        var count: [UInt8] = []
        count.append(number: UInt64(recordCount))
        _ = file.descriptor.write(count, at: IndexHeader.writtenCountOffset)
        for record in records { apply(record) }
        return true
    }
}
