import AlcedoCore

/// A record of an index file: 88 bytes, in little-endian order, the name in its own.
///
///     0   32 name
///     32  8  hash of the resource
///     40  8  length of the file, in bytes
///     48  8  when it was stored, in milliseconds since 1970
///     56  8  when it was last used, the same way
///     64  8  its expiry, the same way; the least number for none
///     72  8  number of the last use
///     80  1  what the record says
///     81  3  blocks of 512 bytes that the file occupies, beyond those that its length fills
///     84  4  the low half of the XXH64 of what stands before it, seeded by the file's generation
enum IndexRecord {
    /// An entry is, or will be, as the record says. Nobody finds more than what the entry's file proves.
    case entry(IndexEntry)
    case removed(EntryName)
    case removedAll

    static let size = 88
    private static let blockSize = 512
    private static let mostFurtherBlocks = 1 << 24 - 1

    private enum Kind: UInt32 {
        case entry = 1
        case removed, removedAll
    }

    func append(to bytes: inout [UInt8], generation: UInt64) {
        let start = bytes.count
        switch self {
        case .entry(let entry): Self.append(entry, .entry, to: &bytes)
        case .removed(let name): Self.append(Self.nothing(name), .removed, to: &bytes)
        case .removedAll: Self.append(Self.nothing(EntryName(words: SIMD4())), .removedAll, to: &bytes)
        }
        let checksum = XXH64.hash(bytes.span.bytes.extracting(start..<bytes.count), seed: generation)
        bytes.append(number: UInt32(truncatingIfNeeded: checksum))
    }

    /// nil unless the bytes are a whole record.
    init?(_ bytes: RawSpan, generation: UInt64) {
        let checksum = XXH64.hash(bytes.extracting(first: 84), seed: generation)
        guard bytes.number(at: 84, as: UInt32.self) == UInt32(truncatingIfNeeded: checksum),
            let kind = Kind(rawValue: bytes.number(at: 80, as: UInt32.self) & 0xFF)
        else { return nil }
        let furtherBlocks = Int(bytes.number(at: 80, as: UInt32.self) >> 8)
        var words = SIMD4<UInt64>()
        for index in 0..<4 { words[index] = bytes.number(at: 8 * index, as: UInt64.self).byteSwapped }
        let name = EntryName(words: words)
        switch kind {
        case .removed: self = .removed(name)
        case .removedAll: self = .removedAll
        case .entry:
            let expiry = bytes.number(at: 64, as: Int64.self)
            let length = bytes.number(at: 40, as: Int64.self)
            // No file has 4 TiB; that no sum overflows is the table's to see to.
            guard 0..<1 << 42 ~= length else { return nil }
            let size = FileSize(
                length: Int(length), occupied: (Self.blocks(of: Int(length)) + furtherBlocks) * Self.blockSize)
            self = .entry(
                IndexEntry(
                    name: name, resourceHash: bytes.number(at: 32, as: UInt64.self), file: size,
                    storedAt: Timestamp(milliseconds: bytes.number(at: 48, as: Int64.self)),
                    lastUse: Timestamp(milliseconds: bytes.number(at: 56, as: Int64.self)),
                    expiry: expiry == .min ? nil : Timestamp(milliseconds: expiry),
                    useNumber: bytes.number(at: 72, as: Int64.self)))
        }
    }

    /// The hash of the name in a record, which need not be whole.
    static func hash(_ bytes: UnsafeRawBufferPointer, at start: Int) -> UInt64 {
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
    }

    private static func nothing(_ name: EntryName) -> IndexEntry {
        let epoch = Timestamp(milliseconds: 0)
        return IndexEntry(
            name: name, resourceHash: 0, file: FileSize(length: 0, occupied: 0), storedAt: epoch, lastUse: epoch,
            expiry: nil,
            useNumber: IndexEntry.neverUsed)
    }

    private static func append(_ entry: IndexEntry, _ kind: Kind, to bytes: inout [UInt8]) {
        for index in 0..<4 { bytes.append(number: entry.name.words[index].byteSwapped) }
        bytes.append(number: entry.resourceHash)
        bytes.append(number: Int64(entry.file.length))
        bytes.append(number: entry.storedAt.milliseconds)
        bytes.append(number: entry.lastUse.milliseconds)
        bytes.append(number: entry.expiry?.milliseconds ?? .min)
        bytes.append(number: entry.useNumber)
        let further = entry.file.occupied / blockSize - blocks(of: entry.file.length)
        bytes.append(number: kind.rawValue | UInt32(min(max(0, further), mostFurtherBlocks)) << 8)
    }

    /// Blocks that so many bytes fill, the last one perhaps in part.
    private static func blocks(of length: Int) -> Int { length / blockSize + (length % blockSize == 0 ? 0 : 1) }
}
