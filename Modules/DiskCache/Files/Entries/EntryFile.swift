import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The layout of an entry's file: the data, the resource's and the variant's names (UTF-8), the metadata, and an
/// ``EntryTrailer``.
///
/// The data comes first so that it begins at the memory's own beginning when a file is read or mapped whole, and so that
/// other programs can open the file of an image.
enum EntryFile {
    /// A file's content in two pieces, so that the data is not copied.
    struct EncodedEntry: Sendable {
        var data: Data
        var tail: [UInt8]
        var trailer: EntryTrailer

        var size: Int { data.count + tail.count }

        /// The size of its file, as far as it is known before that is written.
        var estimatedSize: FileSize { FileSize(length: size, occupied: size) }
    }

    /// nil when something is too long for the layout.
    static func encode(_ entry: CachedData, key: ImageKey, storedAt: Timestamp) -> EncodedEntry? {
        let (resource, variant) = (key.resource.description.utf8, key.variant.utf8)
        let trailer = EntryTrailer(
            resourceCount: resource.count, variantCount: variant.count, metadataCount: entry.metadata.count,
            dataCount: entry.data.count, storedAt: storedAt, expiry: entry.expiry.map(Timestamp.init))
        guard let trailer else { return nil }
        var tail: [UInt8] = []
        tail.reserveCapacity(trailer.attributesCount + EntryTrailer.size)
        tail.append(contentsOf: resource)
        tail.append(contentsOf: variant)
        tail.append(contentsOf: entry.metadata)
        let head = trailer.encoded
        let checksum = XXH64.hash(
            tail.span.bytes, seed: XXH64.hash(entry.data.bytes, seed: XXH64.hash(head.span.bytes)))
        tail.append(contentsOf: head)
        tail.append(number: checksum)
        return EncodedEntry(data: entry.data, tail: tail, trailer: trailer)
    }

    /// The trailer of a whole file; nil when the bytes are no whole entry.
    static func verify(_ file: RawSpan) -> EntryTrailer? {
        guard file.byteCount >= EntryTrailer.size else { return nil }
        let end = file.extracting(last: EntryTrailer.size)
        guard let trailer = EntryTrailer(end, fileSize: file.byteCount) else { return nil }
        let data = file.extracting(first: trailer.dataCount)
        let attributes = file.extracting(trailer.dataCount..<trailer.dataCount + trailer.attributesCount)
        return checksum(end, attributes: attributes, dataHash: XXH64.hash(data, seed: seed(end))) ? trailer : nil
    }

    /// What the hash of the data begins with.
    static func seed(_ end: RawSpan) -> UInt64 {
        XXH64.hash(end.extracting(first: EntryTrailer.checksumOffset))
    }

    /// Whether the checksum in the trailer's bytes is right.
    static func checksum(_ end: RawSpan, attributes: RawSpan, dataHash: UInt64) -> Bool {
        XXH64.hash(attributes, seed: dataHash) == end.number(at: EntryTrailer.checksumOffset, as: UInt64.self)
    }

    /// Whether the notes, which come behind the data, are those of an entry of `key`.
    static func attributes(_ attributes: RawSpan, of trailer: EntryTrailer, belongTo key: ImageKey) -> Bool {
        let (resource, variant) = (key.resource.description, key.variant)
        guard trailer.resourceCount == resource.utf8.count, trailer.variantCount == variant.utf8.count else {
            return false
        }
        guard attributes.extracting(first: trailer.resourceCount).hasSameBytes(as: resource.utf8Span.span.bytes) else {
            return false
        }
        let end = trailer.resourceCount + trailer.variantCount
        return attributes.extracting(trailer.resourceCount..<end).hasSameBytes(as: variant.utf8Span.span.bytes)
    }

    static func metadata(_ attributes: RawSpan, of trailer: EntryTrailer) -> Data {
        guard trailer.metadataCount > 0 else { return Data() }
        return attributes.extracting(last: trailer.metadataCount).withUnsafeBytes { Data($0) }
    }

    /// The key that the notes tell; nil when the names are no text.
    static func key(_ attributes: RawSpan, of trailer: EntryTrailer) -> ImageKey? {
        func text(_ range: Range<Int>) -> String? {
            attributes.extracting(range).withUnsafeBytes { String(validating: $0, as: UTF8.self) }
        }
        let end = trailer.resourceCount + trailer.variantCount
        guard let resource = text(0..<trailer.resourceCount), let variant = text(trailer.resourceCount..<end) else {
            return nil
        }
        return ImageKey(ResourceKey(resource), variant: variant)
    }
}

/// The last 56 bytes of an entry's file, in little-endian order:
///
///     0   8  magic, with the version of the layout
///     8   4  bytes of the resource's name
///     12  4  bytes of the variant's name
///     16  4  bytes of the metadata
///     20  4  nought
///     24  8  bytes of the data
///     32  8  when it was stored, in milliseconds since 1970
///     40  8  its expiry, the same way; the least number for none
///     48  8  XXH64 of the resource, variant and metadata, seeded by that of the data, seeded by that of bytes 0 to 47
struct EntryTrailer: Sendable {
    static let size = 56
    static let checksumOffset = 48
    private static let magic: UInt64 = 0x3230_4F44_4543_4C41

    var resourceCount: Int
    var variantCount: Int
    var metadataCount: Int
    var dataCount: Int
    var storedAt: Timestamp
    var expiry: Timestamp?

    /// What comes behind the data, without the trailer.
    var attributesCount: Int { resourceCount + variantCount + metadataCount }

    /// nil when a count does not fit its field.
    init?(
        resourceCount: Int, variantCount: Int, metadataCount: Int, dataCount: Int, storedAt: Timestamp,
        expiry: Timestamp?
    ) {
        for count in [resourceCount, variantCount, metadataCount] where UInt32(exactly: count) == nil { return nil }
        self.resourceCount = resourceCount
        self.variantCount = variantCount
        self.metadataCount = metadataCount
        self.dataCount = dataCount
        self.storedAt = storedAt
        self.expiry = expiry
    }

    /// nil unless the bytes are a trailer, of a file of that size.
    init?(_ bytes: RawSpan, fileSize: Int) {
        guard bytes.byteCount == Self.size, bytes.number(at: 0, as: UInt64.self) == Self.magic else { return nil }
        resourceCount = Int(bytes.number(at: 8, as: UInt32.self))
        variantCount = Int(bytes.number(at: 12, as: UInt32.self))
        metadataCount = Int(bytes.number(at: 16, as: UInt32.self))
        dataCount = fileSize - Self.size - resourceCount - variantCount - metadataCount
        guard dataCount >= 0, bytes.number(at: 24, as: UInt64.self) == UInt64(dataCount) else { return nil }
        storedAt = Timestamp(milliseconds: bytes.number(at: 32, as: Int64.self))
        let expiry = bytes.number(at: 40, as: Int64.self)
        self.expiry = expiry == .min ? nil : Timestamp(milliseconds: expiry)
    }

    /// The bytes before the checksum.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size)
        bytes.append(number: Self.magic)
        for count in [resourceCount, variantCount, metadataCount, 0] { bytes.append(number: UInt32(count)) }
        bytes.append(number: UInt64(dataCount))
        bytes.append(number: storedAt.milliseconds)
        bytes.append(number: expiry?.milliseconds ?? .min)
        return bytes
    }
}

extension RawSpan {
    /// The number in little-endian order at `offset`, which the caller knows to be within.
    func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number {
        Number(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: type))
    }
}

extension [UInt8] {
    mutating func append(number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
