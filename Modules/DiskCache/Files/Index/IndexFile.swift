import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

/// An open index file: a header, and records one behind the other. The last one that tells of an entry is right.
final class IndexFile: Sendable {
    static let name = "index"

    let descriptor: Descriptor
    /// Where the file was found. Only to look files up in.
    let directory: Descriptor
    let isWritable: Bool
    /// nil when there is none, or a damaged one: then only the file's lock is of use.
    let header: IndexHeader?
    private let device: dev_t
    private let node: ino_t

    /// - Parameters:
    ///   - path: Of a directory.
    ///   - makesFile: Whether an empty file is made where there is none, and a file that cannot be written to is
    ///     of no use.
    init(in path: String, makesFile: Bool) throws(SystemError) {
        let flags = O_NONBLOCK
        directory = try Descriptor(opening: path, O_RDONLY | O_DIRECTORY)
        do {
            descriptor = try Descriptor(
                opening: Self.name, beneath: directory, flags | O_RDWR | (makesFile ? O_CREAT : 0))
            isWritable = true
        } catch {
            guard !makesFile, [EACCES, EROFS, EPERM].contains(error.number) else { throw error }
            descriptor = try Descriptor(opening: Self.name, beneath: directory, flags | O_RDONLY)
            isWritable = false
        }
        guard let status = descriptor.status, status.st_mode & S_IFMT == S_IFREG else {
            throw SystemError(number: EISDIR)
        }
        device = status.st_dev
        node = status.st_ino
        // One that cannot be read is of no more use than a damaged one: the entries tell.
        header = (try? descriptor.read(IndexHeader.size))?.withBytes { IndexHeader($0) }
    }

    /// Bytes of the file, and whether it has been replaced or removed. nil when the system does not say.
    var status: (size: Int, isGone: Bool)? { descriptor.status.map { (Int($0.st_size), $0.st_nlink == 0) } }

    /// Whether the name still leads to this file.
    func isAt(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_dev == device && status.st_ino == node
    }

    /// Waits for the file, at most `timeout`. False when somebody else keeps it. Where the file system has no locks, nobody
    /// does.
    func lock(timeout: Duration) -> Bool {
        guard !descriptor.lock(), errno == EWOULDBLOCK || errno == EINTR else { return true }
        var waited = 0
        var pause = 50
        // The kernel can wait for a lock, but not for at most so long. The thread is the cache's own.
        while Duration.microseconds(waited) < timeout {
            usleep(UInt32(pause))
            if descriptor.lock() { return true }
            waited += pause
            pause = min(5_000, pause * 2)
        }
        return false
    }
}

/// The first 352 bytes of an index file, in little-endian order:
///
///     0   8  magic, with the version of the layout
///     8   8  generation: a number of the file's own
///     16  8  generation of the file that it replaced, zero for none
///     24  8  bytes of that file which it holds
///     32  8  hash of the entries' path extension
///     40  8  number of records that it began with, each of another entry
///     48  8  number of records that have been written, at least; the only part that changes, in one piece
///     56 288 hashes of the boots that know the index to be complete, the latest first, zero for none
///     344 8  XXH64 of all before it, with zero in the place of the part that changes
///
/// A file with fewer records than that was cut short. A number below that of the records does no harm, so it needs no
/// checksum.
struct IndexHeader: Sendable {
    static let size = 352
    static let writtenCountOffset = 48
    /// Containers and machines that share a directory and report boots of their own. With more of them, each change of one
    /// that has been forgotten lists the directory again.
    static let maximumBootCount = 36
    private static let bootsOffset = 56
    private static let checksumOffset = bootsOffset + maximumBootCount * 8
    private static let magic: UInt64 = 0x3230_5844_494F_4441

    var generation: UInt64
    var replaced: (generation: UInt64, size: Int)
    /// The hash of each boot in which a cache has listed the directory, and since which every change has been written. At
    /// most ``maximumBootCount``.
    var bootHashes: [UInt64]
    var suffixHash: UInt64
    var entryCount: Int
    var writtenCount: Int

    /// - Parameter bootHashes: The latest first; those beyond ``maximumBootCount`` are left out.
    init(
        entryCount: Int, replacing replaced: (generation: UInt64, size: Int) = (0, 0), suffix: String,
        bootHashes: [UInt64]
    ) {
        generation = UInt64.random(in: 1 ... .max)
        self.replaced = replaced
        self.entryCount = entryCount
        writtenCount = entryCount
        self.bootHashes = Array(bootHashes.prefix(Self.maximumBootCount))
        suffixHash = XXH64.hash(suffix.utf8Span.span.bytes)
    }

    init?(_ bytes: RawSpan) {
        guard bytes.byteCount == Self.size, bytes.number(at: 0, as: UInt64.self) == Self.magic,
            let size = Int(exactly: bytes.number(at: 24, as: UInt64.self)),
            let entryCount = Int(exactly: bytes.number(at: 40, as: UInt64.self))
        else { return nil }
        // A number that no file has counts as none.
        writtenCount = Int(exactly: bytes.number(at: Self.writtenCountOffset, as: UInt64.self)) ?? .max
        generation = bytes.number(at: 8, as: UInt64.self)
        replaced = (bytes.number(at: 16, as: UInt64.self), size)
        suffixHash = bytes.number(at: 32, as: UInt64.self)
        self.entryCount = entryCount
        bootHashes = []
        for position in 0..<Self.maximumBootCount {
            let hash = bytes.number(at: Self.bootsOffset + position * 8, as: UInt64.self)
            if hash != 0 { bootHashes.append(hash) }
        }
        guard checksum == bytes.number(at: Self.checksumOffset, as: UInt64.self) else { return nil }
    }

    var encoded: [UInt8] {
        var bytes = head(writtenCount: writtenCount)
        bytes.append(number: checksum)
        return bytes
    }

    private var checksum: UInt64 { XXH64.hash(head(writtenCount: 0).span.bytes) }

    private func head(writtenCount: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size)
        bytes.append(number: Self.magic)
        bytes.append(number: generation)
        bytes.append(number: replaced.generation)
        bytes.append(number: UInt64(replaced.size))
        bytes.append(number: suffixHash)
        bytes.append(number: UInt64(entryCount))
        bytes.append(number: UInt64(writtenCount))
        for position in 0..<Self.maximumBootCount {
            bytes.append(number: position < bootHashes.count ? bootHashes[position] : 0)
        }
        return bytes
    }

    /// The hash of this boot. Since the machine came up, what was written is what is read, whatever happened to processes.
    /// Before that, a power cut may have taken the end of the index and left files that it told of; after it, the boot is
    /// another one. Containers on one machine, and machines that share a disk, may each have a boot of their own.
    static let bootHash: UInt64 = {
        let id = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id") ?? Data()
        return XXH64.hash(id.bytes)
    }()
}

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
    private static let maximumFurtherBlocks = 1 << 24 - 1

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
        bytes.append(number: kind.rawValue | UInt32(min(max(0, further), maximumFurtherBlocks)) << 8)
    }

    /// Blocks that so many bytes fill, the last one perhaps in part.
    private static func blocks(of length: Int) -> Int { length / blockSize + (length % blockSize == 0 ? 0 : 1) }
}
