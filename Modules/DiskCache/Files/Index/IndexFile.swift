import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

/// An open index file: a header, followed by records. A record overrides the earlier records of the same entry. A
/// record of the kind `removedAll` overrides all earlier records.
final class IndexFile: Sendable {
    static let name = "index"

    let descriptor: Descriptor
    /// The open directory that contains the file.
    let directory: Descriptor
    let isWritable: Bool
    /// The header, or nil if it is missing, damaged or unreadable. Without a header, only the file's lock is usable.
    let header: IndexHeader?
    private let device: dev_t
    private let node: ino_t

    /// Opens the index file of a directory, without following symbolic links below the directory.
    ///
    /// - Parameters:
    ///   - path: The path of the directory.
    ///   - makesFile: Whether to create an empty file if there is none. If true, the call throws an error for a file
    ///     that cannot be written to. If false, the call opens such a file only for reading.
    ///   - hook: A closure that may let operations on the file fail, and on files in the directory. The default is nil.
    /// - Throws: The error of the system, or `EISDIR` if the opened file is not a regular file.
    init(in path: String, makesFile: Bool, hook: FileHook? = nil) throws(SystemError) {
        let flags = O_NONBLOCK
        directory = try Descriptor(opening: path, O_RDONLY | O_DIRECTORY, hook: hook)
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
        // An unreadable header counts as a damaged one: the index is then rebuilt from the entries.
        header = (try? descriptor.read(IndexHeader.size))?.withBytes { IndexHeader($0) }
    }

    /// The size of the file in bytes, and whether the file has been removed or replaced. The value is nil if the system
    /// reports an error.
    var status: (size: Int, isGone: Bool)? { descriptor.status.map { (Int($0.st_size), $0.st_nlink == 0) } }

    /// Returns whether the path still leads to this file.
    func isAt(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_dev == device && status.st_ino == node
    }

    /// Locks the file. If another cache has locked it, tries again for about `timeout`, and then returns false. On a
    /// file system without locks, returns true at once.
    func lock(timeout: Duration) -> Bool {
        descriptor.lock(timeout: timeout) || errno != EWOULDBLOCK && errno != EINTR
    }
}

/// The header of an index file, in its first 352 bytes, in little-endian order. Each line of the table begins with the
/// offset and the size of a field:
///
///     0   8  magic number, with the version of the layout
///     8   8  generation: a random number that identifies the file
///     16  8  generation of the file that this one replaced; zero for none
///     24  8  number of bytes of the replaced file that this one covers
///     32  8  hash of the rule by which the entries' files have their path extensions
///     40  8  number of initial records, each of a different entry
///     48  8  minimum number of written records; the only field that changes
///     56 288 hashes of the boots in which the index is known to be complete, the writer's first; zero for none
///     344 8  XXH64 of all preceding bytes, with zero in place of the changing field
///
/// If a file has fewer records than the minimum at offset 48, the file counts as truncated. This field needs no
/// checksum: a damaged value that is too small only weakens the check, and a value that is too large only causes a
/// needless reconciliation.
struct IndexHeader: Sendable {
    static let size = 352
    static let writtenCountOffset = 48
    /// The maximum number of boots in a header. Containers and machines that share a directory may report different
    /// boots. If there are more boots, a new header drops some of them. The next change in a dropped boot lists the
    /// directory again.
    static let maximumBootCount = 36
    private static let bootsOffset = 56
    private static let checksumOffset = bootsOffset + maximumBootCount * 8
    /// The letters `ADIODX` and the version. Earlier versions had the same layout, but listed files of their version.
    /// Such an index is rebuilt, which removes those files.
    private static let magic: UInt64 = 0x3430_5844_494F_4441

    var generation: UInt64
    var replaced: (generation: UInt64, size: Int)
    /// The hashes of the boots in which a cache has listed the directory, so that the index is known to be complete.
    /// There are at most ``maximumBootCount``.
    var bootHashes: [UInt64]
    var suffixHash: UInt64
    var entryCount: Int
    var writtenCount: Int

    /// Creates the header of a new index file, with a random generation.
    ///
    /// - Parameters:
    ///   - entryCount: The number of initial records.
    ///   - replaced: The generation of the replaced file, and the number of its bytes that the new file covers. The
    ///     default is none.
    ///   - suffixRule: The rule by which the entries' files have their path extensions.
    ///   - bootHashes: The hashes of the boots. Hashes beyond ``maximumBootCount`` are dropped.
    init(
        entryCount: Int, replacing replaced: (generation: UInt64, size: Int) = (0, 0), suffixRule: String,
        bootHashes: [UInt64]
    ) {
        generation = UInt64.random(in: 1 ... .max)
        self.replaced = replaced
        self.entryCount = entryCount
        writtenCount = entryCount
        self.bootHashes = Array(bootHashes.prefix(Self.maximumBootCount))
        suffixHash = XXH64.hash(suffixRule.utf8Span.span.bytes)
    }

    /// Decodes a header. Returns nil if the bytes are not a valid header.
    init?(_ bytes: RawSpan) {
        guard bytes.byteCount == Self.size, bytes.number(at: 0, as: UInt64.self) == Self.magic,
            let size = Int(exactly: bytes.number(at: 24, as: UInt64.self)),
            let entryCount = Int(exactly: bytes.number(at: 40, as: UInt64.self))
        else { return nil }
        // A number that exceeds `Int` counts as the largest one, so the file counts as truncated.
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

    /// The hash of the current boot's identifier.
    ///
    /// Within one boot, reads return all bytes that were written, even by a process that has ended. A power failure may
    /// lose the end of the index and keep the entries' files. The next boot has another identifier, so the index then
    /// counts as incomplete. If no identifier can be read, all boots count as one boot. Containers on one machine, and
    /// machines that share a disk, may each have their own identifier.
    static let bootHash: UInt64 = {
        let id = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id") ?? Data()
        return XXH64.hash(id.bytes)
    }()
}

/// A record of an index file: 88 bytes, in little-endian order, except the name. Each line of the table begins with the
/// offset and the size of a field:
///
///     0   32 name, in big-endian order
///     32  8  hash of the resource
///     40  8  length of the file in bytes
///     48  8  date of storing, in milliseconds since 1970
///     56  8  date of the last use, in milliseconds since 1970
///     64  8  expiration date, in milliseconds since 1970; the minimum value for none
///     72  8  number of the last use
///     80  1  kind of the record in the low two bits, and the number of the file's path extension
///     81  3  number of 512-byte blocks that the file occupies beyond those that its length fills, 0 to 2^24 - 1
///     84  4  low half of the XXH64 of the preceding bytes, seeded with the generation of the file
enum IndexRecord {
    /// The present state of an entry. The file of the entry may be missing. A read always verifies the file, so a
    /// record without a file results in a miss.
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

    /// Decodes a record. Returns nil if the bytes are not a valid record.
    init?(_ bytes: RawSpan, generation: UInt64) {
        let checksum = XXH64.hash(bytes.extracting(first: 84), seed: generation)
        guard bytes.number(at: 84, as: UInt32.self) == UInt32(truncatingIfNeeded: checksum),
            let kind = Kind(rawValue: bytes.number(at: 80, as: UInt32.self) & 3)
        else { return nil }
        let suffixNumber = UInt8(truncatingIfNeeded: bytes.number(at: 80, as: UInt32.self) >> 2) & 63
        let furtherBlocks = Int(bytes.number(at: 80, as: UInt32.self) >> 8)
        var words = SIMD4<UInt64>()
        for index in 0..<4 { words[index] = bytes.number(at: 8 * index, as: UInt64.self).byteSwapped }
        let name = EntryName(words: words, suffixNumber: suffixNumber)
        switch kind {
        case .removed: self = .removed(name)
        case .removedAll: self = .removedAll
        case .entry:
            let expiry = bytes.number(at: 64, as: Int64.self)
            let length = bytes.number(at: 40, as: Int64.self)
            // A record of a file of 4 TiB or more counts as damaged. ``IndexTable/put(_:)`` checks that sums do not
            // overflow.
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

    /// Returns the hash of the name in a record that begins at `start`. The record may be damaged.
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
        let furtherBlocks = UInt32(min(max(0, further), maximumFurtherBlocks))
        bytes.append(number: kind.rawValue | UInt32(entry.name.suffixNumber & 63) << 2 | furtherBlocks << 8)
    }

    /// Returns the number of blocks that `length` bytes fill, including a partly filled one.
    private static func blocks(of length: Int) -> Int { length / blockSize + (length % blockSize == 0 ? 0 : 1) }
}
