/// Gives every chunk of a PNG a valid check value, because otherwise nearly every mutation fails there and the code
/// after the check is not tested.
enum ChunkRepair {
    /// Source: W3C PNG specification, third edition, section 5.3.
    static func repaired(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var png = Array(bytes)
        var start = 8
        while start + 12 <= png.count {
            let length = png[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            let end = start + 8 + length
            guard end + 4 <= png.count else { break }
            let value = crc(png[start + 4..<end])
            for index in 0..<4 { png[end + index] = UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * index)) }
            start = end + 4
        }
        return png
    }

    /// Source: the same, annex D.
    private static func crc(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var value: UInt32 = .max
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return ~value
    }
}
