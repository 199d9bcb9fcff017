import AlcedoCore
import FoundationEssentials

/// The first 88 bytes of an index file, in little-endian order:
///
///     0   8  magic, with the version of the layout
///     8   8  generation: a number of the file's own
///     16  8  generation of the file that it replaced, nought for none
///     24  8  bytes of that file which it holds
///     32  8  hash of what names the machine's run
///     40  8  hash of the entries' path extension
///     48  8  number of records that it began with, each of another entry
///     56  8  number of records that have been written, at least; the only part that changes, in one piece
///     64  16 nought
///     80  8  XXH64 of what stands before it, with nought in the place of the part that changes
///
/// A file with fewer records than that was cut short. Fewer than there are does no harm, so that number needs no checksum.
struct IndexHeader: Sendable {
    static let size = IndexRecord.size
    static let writtenCountOffset = 56
    private static let magic: UInt64 = 0x3130_5844_494F_4441

    var generation: UInt64
    var replaced: (generation: UInt64, size: Int)
    var bootHash: UInt64
    var suffixHash: UInt64
    var entryCount: Int
    var writtenCount: Int

    init(entryCount: Int, replacing replaced: (generation: UInt64, size: Int) = (0, 0), suffix: String) {
        generation = UInt64.random(in: 1 ... .max)
        self.replaced = replaced
        self.entryCount = entryCount
        writtenCount = entryCount
        bootHash = Self.bootHash
        suffixHash = XXH64.hash(suffix.utf8Span.span.bytes)
    }

    init?(_ bytes: RawSpan) {
        guard bytes.byteCount == Self.size, bytes.number(at: 0, as: UInt64.self) == Self.magic,
            let size = Int(exactly: bytes.number(at: 24, as: UInt64.self)),
            let entryCount = Int(exactly: bytes.number(at: 48, as: UInt64.self))
        else { return nil }
        // A number that no file has counts as none.
        writtenCount = Int(exactly: bytes.number(at: Self.writtenCountOffset, as: UInt64.self)) ?? .max
        generation = bytes.number(at: 8, as: UInt64.self)
        replaced = (bytes.number(at: 16, as: UInt64.self), size)
        bootHash = bytes.number(at: 32, as: UInt64.self)
        suffixHash = bytes.number(at: 40, as: UInt64.self)
        self.entryCount = entryCount
        guard checksum == bytes.number(at: 80, as: UInt64.self),
            bytes.extracting(64..<80).hasSameBytes(as: [UInt8](repeating: 0, count: 16).span.bytes)
        else { return nil }
    }

    var encoded: [UInt8] {
        var bytes = head(writtenCount: writtenCount)
        bytes.append(number: checksum)
        return bytes
    }

    private var checksum: UInt64 { XXH64.hash(head(writtenCount: 0).span.bytes) }

    private func head(writtenCount: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: Self.magic)
        bytes.append(number: generation)
        bytes.append(number: replaced.generation)
        bytes.append(number: UInt64(replaced.size))
        bytes.append(number: bootHash)
        bytes.append(number: suffixHash)
        bytes.append(number: UInt64(entryCount))
        bytes.append(number: UInt64(writtenCount))
        bytes.append(contentsOf: repeatElement(0, count: 16))
        return bytes
    }

    /// Since the machine came up, what was written is what is read, whatever happened to processes. Before that, a power
    /// cut may have taken the end of the index and left files that it tells of.
    static let bootHash: UInt64 = {
        let id = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id") ?? Data()
        return XXH64.hash(id.bytes)
    }()
}
