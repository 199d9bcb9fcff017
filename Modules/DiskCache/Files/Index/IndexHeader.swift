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
///     56  24 nought
///     80  8  XXH64 of what stands before it
struct IndexHeader: Sendable {
    static let size = IndexRecord.size
    private static let magic: UInt64 = 0x3130_5844_494F_4441

    var generation: UInt64
    var replaced: (generation: UInt64, size: Int)
    var bootHash: UInt64
    var suffixHash: UInt64
    var entryCount: Int

    init(entryCount: Int, replacing replaced: (generation: UInt64, size: Int) = (0, 0), suffix: String) {
        generation = UInt64.random(in: 1 ... .max)
        self.replaced = replaced
        self.entryCount = entryCount
        bootHash = Self.bootHash
        suffixHash = XXH64.hash(suffix.utf8Span.span.bytes)
    }

    init?(_ bytes: RawSpan) {
        guard bytes.byteCount == Self.size, bytes.number(at: 0, as: UInt64.self) == Self.magic,
            XXH64.hash(bytes.extracting(first: 80)) == bytes.number(at: 80, as: UInt64.self),
            let size = Int(exactly: bytes.number(at: 24, as: UInt64.self)),
            let entryCount = Int(exactly: bytes.number(at: 48, as: UInt64.self))
        else { return nil }
        generation = bytes.number(at: 8, as: UInt64.self)
        replaced = (bytes.number(at: 16, as: UInt64.self), size)
        bootHash = bytes.number(at: 32, as: UInt64.self)
        suffixHash = bytes.number(at: 40, as: UInt64.self)
        self.entryCount = entryCount
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: Self.magic)
        bytes.append(number: generation)
        bytes.append(number: replaced.generation)
        bytes.append(number: UInt64(replaced.size))
        bytes.append(number: bootHash)
        bytes.append(number: suffixHash)
        bytes.append(number: UInt64(entryCount))
        bytes.append(contentsOf: repeatElement(0, count: 24))
        bytes.append(number: XXH64.hash(bytes.span.bytes))
        return bytes
    }

    /// Since the machine came up, what was written is what is read, whatever happened to processes. Before that, a power
    /// cut may have taken the end of the index and left files that it tells of.
    static let bootHash: UInt64 = {
        let id = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id") ?? Data()
        return XXH64.hash(id.bytes)
    }()
}
