import AlcedoCore

/// Little-endian numbers in the bytes of a file.
struct ByteReader {
    let bytes: UnsafeBufferPointer<UInt8>
    /// The name of the format in messages.
    let format: String

    /// Returns an unsigned number. Throws `truncated` when it is not within the bytes.
    func number(at offset: Int, byteCount: Int) throws(ImageDecodingError) -> Int {
        guard offset >= 0, byteCount <= bytes.count, offset <= bytes.count - byteCount else {
            throw ImageDecodingError(.truncated, "\(format): the data ends within the header")
        }
        return (0..<byteCount).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    /// Returns a signed 32-bit number. Throws `truncated` when it is not within the bytes.
    func signedNumber(at offset: Int) throws(ImageDecodingError) -> Int {
        Int(Int32(truncatingIfNeeded: try number(at: offset, byteCount: 4)))
    }

    /// Returns an unsigned 32-bit number in big-endian order, as in PNG. Throws `truncated` when it is not within the
    /// bytes.
    func bigEndianNumber(at offset: Int) throws(ImageDecodingError) -> Int {
        Int(UInt32(truncatingIfNeeded: try number(at: offset, byteCount: 4)).byteSwapped)
    }
}
