import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The layout of an entry's file: the data, the names of the resource and the variant in UTF-8, the metadata, and an
/// ``EntryTrailer``.
///
/// The data comes first. If the whole file is read or mapped, the data begins at the start of the memory. Other
/// programs can open the file of an image.
enum EntryFile {
    /// The content of a file in two parts, so that the data is not copied.
    struct EncodedEntry: Sendable {
        var data: Data
        var tail: [UInt8]
        var trailer: EntryTrailer

        var size: Int { data.count + tail.count }

        /// The size of the file as estimated before it is written.
        var estimatedSize: FileSize { FileSize(length: size, occupied: size) }
    }

    /// Encodes an entry. Returns nil if a part is too long for the layout.
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
        trailer.append(to: &tail)
        tail.append(number: XXH3.hash(entry.data.bytes, tail.span.bytes))
        return EncodedEntry(data: entry.data, tail: tail, trailer: trailer)
    }

    /// Verifies a whole file. Returns its trailer, or nil if the bytes are not a whole entry.
    ///
    /// - Parameters:
    ///   - file: The bytes of the file.
    ///   - hash: The hash of all bytes before the checksum if it is known. The default is nil, to compute it.
    static func verify(_ file: RawSpan, hash: UInt64? = nil) -> EntryTrailer? {
        guard file.byteCount >= EntryTrailer.size else { return nil }
        let end = file.extracting(last: EntryTrailer.size)
        guard let trailer = EntryTrailer(end, fileSize: file.byteCount) else { return nil }
        let found = hash ?? XXH3.hash(file.extracting(first: file.byteCount - EntryTrailer.checksumSize))
        return found == checksum(end) ? trailer : nil
    }

    /// Returns the checksum in the bytes of a trailer.
    static func checksum(_ end: RawSpan) -> UInt64 { end.number(at: EntryTrailer.checksumOffset, as: UInt64.self) }

    /// Returns whether the attributes, which follow the data, belong to an entry of `key`.
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

    /// Returns the key in the attributes, or nil if a name is not valid UTF-8.
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

/// The trailer of an entry's file, in its last 56 bytes, in little-endian order. Each line of the table begins with the
/// offset and the size of a field:
///
///     0   8  magic number, with the version of the layout
///     8   4  length of the resource's name in bytes
///     12  4  length of the variant's name in bytes
///     16  4  length of the metadata in bytes
///     20  4  zero
///     24  8  length of the data in bytes
///     32  8  date of storing, in milliseconds since 1970
///     40  8  expiration date, in milliseconds since 1970; the minimum value for none
///     48  8  XXH3, with 64 bits and the seed 0, of all preceding bytes of the file
struct EntryTrailer: Sendable {
    static let size = 56
    static let checksumOffset = 48
    static let checksumSize = 8
    /// The letters `ALCEDO` and the version. A file of another version is not an entry. Version 02 had another
    /// checksum. The images of version 03 may belong to users whom their keys do not name.
    private static let magic: UInt64 = 0x3430_4F44_4543_4C41

    var resourceCount: Int
    var variantCount: Int
    var metadataCount: Int
    var dataCount: Int
    var storedAt: Timestamp
    var expiry: Timestamp?

    /// The number of bytes between the data and the trailer.
    var attributesCount: Int { resourceCount + variantCount + metadataCount }

    /// Creates a trailer. Returns nil if a length does not fit its field.
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

    /// Decodes the trailer of a file of `fileSize` bytes. Returns nil if the bytes are not a valid trailer of such a
    /// file. Does not verify the checksum.
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

    /// Appends the encoded trailer without the checksum.
    func append(to bytes: inout [UInt8]) {
        bytes.append(number: Self.magic)
        for count in [resourceCount, variantCount, metadataCount, 0] { bytes.append(number: UInt32(count)) }
        bytes.append(number: UInt64(dataCount))
        bytes.append(number: storedAt.milliseconds)
        bytes.append(number: expiry?.milliseconds ?? .min)
    }
}

extension RawSpan {
    /// Returns the little-endian number at `offset`. All of its bytes must be within the span.
    func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number {
        Number(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: type))
    }
}

extension [UInt8] {
    mutating func append(number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
