import AlcedoCore
import AlcedoLibc

/// The index in memory, and how far the file has been read. Reads of the file are short, but do block.
struct IndexState: Sendable {
    enum Lookup {
        /// - Parameter indexFile: Where to look for the file.
        case present(IndexEntry, indexFile: IndexFile)
        case expired
        case absent
        /// The index cannot tell; the entry's file can.
        case unknown
    }

    /// Most uses that are told to others, and kept for the next start, later than they happen.
    static let maximumUnwrittenUseCount = 512

    private(set) var table = IndexTable()
    /// Whether the table has all of the file. Else there is none, or a damaged one, or somebody just writes.
    private(set) var isIntact = false
    /// Hash of the entries' path extension.
    private let suffixHash: UInt64
    private let bootHash: UInt64
    private(set) var file: IndexFile?
    /// Bytes of the file that the table has.
    private(set) var end = 0
    private(set) var recordCount = 0
    private var nextUse: Int64 = 1
    /// Whether the table is right and no file tells it yet: then no file is read.
    private var isReplacing = false
    /// Entries that were used since the file was written to.
    private(set) var unwrittenUses: Set<EntryName> = []

    /// Whether the file is so long for what it tells that a new one is worth its writing.
    var isWasteful: Bool { recordCount > 2 * table.count + 8192 }

    init(suffixHash: UInt64, bootHash: UInt64 = IndexHeader.bootHash) {
        self.suffixHash = suffixHash
        self.bootHash = bootHash
    }

    /// Whether the table tells of every entry there is: the file does, unless the machine went down since, or the files had
    /// other names then.
    var isComplete: Bool {
        guard isIntact, let header = file?.header else { return false }
        return header.suffixHash == suffixHash && header.bootHashes.contains(bootHash)
    }

    /// The boots that may rely on a file which is written now: this one, and those that rely on the present file, because
    /// the new one tells no less.
    var bootHashes: [UInt64] { [bootHash] + (file?.header?.bootHashes ?? []).filter { $0 != bootHash } }

    // MARK: Looking up

    /// Notes a use of what is present.
    mutating func use(_ name: EntryName, at now: Timestamp, limits: DataCacheLimits, in path: String) -> Lookup {
        var lookup = find(name, at: now, limits: limits)
        if case .present = lookup {
        } else {
            // Somebody else may have stored it, or used it.
            refresh(path)
            lookup = find(name, at: now, limits: limits)
        }
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
        let isOver = limits.isOver(
            storedAt: entry.storedAt, lastUse: entry.lastUse, expiry: entry.expiry, now: now)
        return isOver ? .expired : .present(entry, indexFile: file)
    }

    mutating func takeUseNumber() -> Int64 {
        defer { nextUse &+= 1 }
        return nextUse
    }

    // MARK: Reading

    /// Reads what others have written since.
    ///
    /// - Parameter path: Of the directory.
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
        guard let opened = try? IndexFile(in: path, makesFile: false) else { return forget() }
        install(opened)
    }

    /// Knows what a file says that has been opened.
    mutating func install(_ opened: IndexFile) {
        if let old = file, let header = opened.header, isIntact, header.entryCount == table.count,
            header.replaced.generation == old.header?.generation, header.replaced.size == end
        {
            // It begins with what we know.
            begin(opened, table.count)
        } else {
            forget()
            begin(opened, 0)
        }
        if let size = opened.status?.size { readOn(to: size) }
    }

    /// Knows nothing but what `table` tells, until it goes on with the file that is written of it, or is told to abandon it:
    /// whoever looks meanwhile must not read the old file again.
    mutating func replace(_ table: IndexTable) {
        forget()
        self.table = table
        isReplacing = true
    }

    /// Gives up a table that cannot be written. The next look reads what file there is.
    mutating func abandon() {
        guard isReplacing else { return }
        isReplacing = false
        forget()
    }

    /// Records of the entries at `positions`, for a file that is to replace this one; nil when there are not `count` entries any
    /// more.
    func snapshot(_ positions: Range<Int>, of count: Int, generation: UInt64) -> [UInt8]? {
        guard table.count == count else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(positions.count * IndexRecord.size)
        for position in positions { IndexRecord.entry(table[position]).append(to: &bytes, generation: generation) }
        return bytes
    }

    /// Goes on with a file that holds the whole of the table.
    mutating func follow(_ path: String, generation: UInt64) {
        isReplacing = false
        guard let opened = try? IndexFile(in: path, makesFile: false), let header = opened.header,
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
        // What is left is damage, or somebody is just writing it: the lock's owner knows. What is missing is damage.
        isIntact = file?.header.map { recordCount >= max($0.entryCount, $0.writtenCount) && end == size } ?? false
    }

    /// The table with all that whole records tell, those behind damaged ones too. Only for the lock's owner: for others,
    /// somebody may just be writing.
    consuming func salvaged() -> IndexTable {
        guard file?.header != nil, let size = file?.status?.size else { return table }
        while end < size {
            readRecords(to: size)
            // Past the damaged one.
            end += IndexRecord.size
        }
        return table
    }

    private mutating func readRecords(to size: Int) {
        guard size > end, let file, let generation = file.header?.generation else { return }
        // A file may claim to be of any size.
        if recordCount == 0 { table.reserve(min(1 << 20, (size - end) / IndexRecord.size)) }
        let room = min(size - end, 1024 * IndexRecord.size)
        withUnsafeTemporaryAllocation(byteCount: room, alignment: 8) { room in
            while end < size {
                guard let count = try? file.descriptor.read(into: room, at: end), count >= IndexRecord.size else {
                    return
                }
                guard apply(UnsafeRawBufferPointer(rebasing: room[..<count]), generation: generation) else { return }
            }
        }
    }

    /// Applies the whole records of a piece of the file; false when one is damaged.
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
        // Used, so that the looks are not left out: places are 31 bits, or -1.
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

    /// Writes the records, and the uses that are unwritten, and applies them. False when the system refuses, and `errno`
    /// says why; then nothing has changed. Only for the lock's owner.
    mutating func append(_ records: [IndexRecord]) -> Bool {
        guard let file, let generation = file.header?.generation else { return false }
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
        unwrittenUses = []
        end += bytes.count
        recordCount += bytes.count / IndexRecord.size
        // Without it, a file that is cut short at the end of a record would look whole: no more than that is lost.
        var count: [UInt8] = []
        count.append(number: UInt64(recordCount))
        _ = file.descriptor.write(count, at: IndexHeader.writtenCountOffset)
        for record in records { apply(record) }
        return true
    }
}
