import AlcedoCore
import FoundationEssentials

/// The layout of an entry's file: the data, the key (UTF-8), the metadata, and 32 bytes in little-endian order:
///
///     0   8  magic, with the version of the layout
///     8   4  bytes of the key
///     12  4  bytes of the metadata
///     16  8  bytes of the data
///     24  8  XXH64 over data, key and metadata, seeded by that of bytes 0 to 23
///
/// The data comes first so that it begins at the memory's own beginning when a file is read or mapped whole.
enum EntryFile {
    private static let trailerSize = 32
    private static let magic: [UInt8] = Array("ALCEDO01".utf8)

    /// A file's content in two pieces, so that the data is not copied.
    struct Image: Sendable {
        var data: Data
        var rest: Data

        var size: Int { data.count + rest.count }
    }

    static func encode(_ entry: CachedData, key: ImageKey) -> Image {
        let name = Data(key.description.utf8)
        var trailer = Data(magic)
        append(UInt32(truncatingIfNeeded: name.count), to: &trailer)
        append(UInt32(truncatingIfNeeded: entry.metadata.count), to: &trailer)
        append(UInt64(entry.data.count), to: &trailer)
        var checksum = XXH64.hash(trailer.bytes)
        for part in [entry.data, name, entry.metadata] { checksum = XXH64.hash(part.bytes, seed: checksum) }
        append(checksum, to: &trailer)
        return Image(data: entry.data, rest: name + entry.metadata + trailer)
    }

    /// The data's length and the metadata in a file's bytes, or nil when they are not a whole entry of `key`.
    static func decode(_ file: RawSpan, key: ImageKey) -> (dataCount: Int, metadata: Data)? {
        guard file.byteCount >= trailerSize else { return nil }
        let trailer = file.extracting(last: trailerSize)
        guard trailer.contains(magic) else { return nil }
        let nameCount = Int(number(trailer, at: 8, as: UInt32.self))
        let metadataCount = Int(number(trailer, at: 12, as: UInt32.self))
        let dataCount = file.byteCount - trailerSize - nameCount - metadataCount
        guard dataCount >= 0, number(trailer, at: 16, as: UInt64.self) == UInt64(dataCount) else { return nil }
        let name = dataCount..<dataCount + nameCount
        let metadata = name.upperBound..<name.upperBound + metadataCount
        var checksum = XXH64.hash(trailer.extracting(first: 24))
        for part in [0..<dataCount, name, metadata] { checksum = XXH64.hash(file.extracting(part), seed: checksum) }
        guard checksum == number(trailer, at: 24, as: UInt64.self) else { return nil }
        let expected = Array(key.description.utf8)
        guard nameCount == expected.count, file.contains(expected, at: name.lowerBound) else { return nil }
        return (dataCount, file.extracting(metadata).withUnsafeBytes { Data($0) })
    }

    private static func append(_ value: some FixedWidthInteger, to data: inout Data) {
        withUnsafeBytes(of: value.littleEndian) { data.append(contentsOf: $0) }
    }

    private static func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: RawSpan, at offset: Int, as type: Number.Type
    ) -> Number {
        Number(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: type))
    }
}
