import AlcedoCore
import FoundationEssentials

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
    static let mostBoots = 36
    private static let bootsOffset = 56
    private static let checksumOffset = bootsOffset + mostBoots * 8
    private static let magic: UInt64 = 0x3230_5844_494F_4441

    var generation: UInt64
    var replaced: (generation: UInt64, size: Int)
    /// The hash of each boot in which a cache has listed the directory, and since which every change has been written. At
    /// most ``mostBoots``.
    var bootHashes: [UInt64]
    var suffixHash: UInt64
    var entryCount: Int
    var writtenCount: Int

    /// - Parameter bootHashes: The latest first; those beyond ``mostBoots`` are left out.
    init(
        entryCount: Int, replacing replaced: (generation: UInt64, size: Int) = (0, 0), suffix: String,
        bootHashes: [UInt64]
    ) {
        generation = UInt64.random(in: 1 ... .max)
        self.replaced = replaced
        self.entryCount = entryCount
        writtenCount = entryCount
        self.bootHashes = Array(bootHashes.prefix(Self.mostBoots))
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
        for place in 0..<Self.mostBoots {
            let hash = bytes.number(at: Self.bootsOffset + place * 8, as: UInt64.self)
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
        for place in 0..<Self.mostBoots { bytes.append(number: place < bootHashes.count ? bootHashes[place] : 0) }
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
