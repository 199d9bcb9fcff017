package import FoundationEssentials

/// A small lossless WebP whose pixels have many groups of prefix codes, for each of which a decoder makes tables.
package enum PrefixCodeBomb {
    /// Returns a transparent image with a group for each block of 4 x 4 pixels.
    ///
    /// - Parameters:
    ///   - side: The width and height, a multiple of 4 from 64 to 1024.
    ///   - groupCount: The number of groups if there are more than blocks.
    ///   - colorCacheBits: The binary logarithm of the size of the color cache, from 1 to 11; zero for none.
    package static func file(side: Int, groupCount: Int = 0, colorCacheBits: Int = 0) -> Data {
        var bits = Bits()
        bits.append(side - 1, 14)
        bits.append(side - 1, 14)
        // No alpha, version 0 and no transform.
        bits.append(0, 5)
        bits.append(colorCacheBits > 0 ? 1 | colorCacheBits << 1 : 0, colorCacheBits > 0 ? 5 : 1)
        // Groups for blocks of 4 x 4 pixels, whose image has no color cache.
        bits.append(1, 1)
        bits.append(0, 4)
        bits.appendByteCode()
        bits.appendByteCode()
        for _ in 0..<3 { bits.appendSingleCode() }
        let blockCount = side / 4 * (side / 4)
        let count = max(blockCount, groupCount)
        for block in 0..<blockCount {
            let group = block == blockCount - 1 ? count - 1 : block
            bits.append(Bits.reversed(group & 255), 8)
            bits.append(Bits.reversed(group >> 8), 8)
        }
        for _ in 0..<5 * count { bits.appendSingleCode() }
        let stream = [0x2F] + bits.bytes + (bits.bytes.count % 2 == 0 ? [0] : [])
        let chunk = Array("VP8L".utf8) + number(stream.count) + stream
        return Data(Array("RIFF".utf8) + number(4 + chunk.count) + Array("WEBP".utf8) + chunk)
    }

    private static func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 255) } }

    private struct Bits {
        private(set) var bytes: [UInt8] = []
        private var count = 0

        mutating func append(_ value: Int, _ width: Int) {
            for index in 0..<width {
                if count % 8 == 0 { bytes.append(0) }
                bytes[count / 8] |= UInt8(value >> index & 1) << UInt8(count % 8)
                count += 1
            }
        }

        /// A code with a single symbol, which takes no bits.
        mutating func appendSingleCode() { append(1, 4) }

        /// A code of 8 bits for each byte. The code of a byte is its value, from the highest bit.
        mutating func appendByteCode() {
            append(0, 1)
            // The lengths 0 and 8 have codes of one bit.
            append(8, 4)
            for length in [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8] { append(length == 0 || length == 8 ? 1 : 0, 3) }
            // 256 lengths of 8 follow, and all others are zero.
            append(1, 1)
            append(3, 3)
            append(254, 8)
            for _ in 0..<256 { append(1, 1) }
        }

        static func reversed(_ byte: Int) -> Int { (0..<8).reduce(0) { $0 | (byte >> $1 & 1) << (7 - $1) } }
    }
}
