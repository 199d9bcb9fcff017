import AlcedoCore
import FoundationEssentials

/// An entry as the bytes of one value: a head of 28 bytes, the notes, the data.
///
/// The head, in little-endian numbers: `ALR1`, the expiry in milliseconds since 1970 (the least number: none), the notes'
/// length, and the XXH64 of all that is not itself. What does not agree with it is no entry.
enum RedisEntry {
    private static let magic: [UInt8] = Array("ALR1".utf8)
    private static let headCount = 28
    private static let hashOffset = 16 + 4

    /// Bytes that ``encode(_:)`` makes.
    static func byteCount(of entry: CachedData) -> Int { headCount + entry.metadata.count + entry.data.count }

    static func encode(_ entry: CachedData) -> Data {
        var bytes = Data(capacity: byteCount(of: entry))
        bytes.append(contentsOf: magic)
        append(entry.expiry.map { Timestamp($0).milliseconds } ?? .min, to: &bytes)
        append(UInt64(entry.metadata.count), to: &bytes)
        var hash = XXH64()
        hash.update(bytes.bytes)
        hash.update(entry.metadata.bytes)
        hash.update(entry.data.bytes)
        append(hash.value, to: &bytes)
        bytes.append(entry.metadata)
        bytes.append(entry.data)
        return bytes
    }

    /// Nil for what is damaged, or something else.
    static func decode(_ value: Data) -> CachedData? {
        let bytes = value.startIndex == 0 ? value : Data(value)
        guard bytes.count >= headCount, bytes.prefix(magic.count).elementsEqual(magic) else { return nil }
        let expiry: Int64 = number(bytes, magic.count)
        let metadataCount: UInt64 = number(bytes, magic.count + 8)
        let expected: UInt64 = number(bytes, hashOffset)
        guard metadataCount <= UInt64(bytes.count - headCount) else { return nil }
        var hash = XXH64()
        hash.update(bytes.bytes.extracting(0..<hashOffset))
        hash.update(bytes.bytes.extracting(headCount..<bytes.count))
        guard hash.value == expected else { return nil }
        let middle = headCount + Int(metadataCount)
        return CachedData(
            Data(bytes[middle...]), metadata: Data(bytes[headCount..<middle]),
            expiry: expiry == .min ? nil : Timestamp(milliseconds: expiry).date)
    }

    private static func append<Number: FixedWidthInteger>(_ number: Number, to bytes: inout Data) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private static func number<Number: FixedWidthInteger & BitwiseCopyable>(_ bytes: Data, _ offset: Int) -> Number {
        Number(littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}
