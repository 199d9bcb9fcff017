import AlcedoCore

/// An encoder of palette indices into the codes of one image.
///
/// The table is cleared as soon as all codes are in use: keeping it longer makes photos hardly smaller. Sources: GIF89a
/// appendix F; Welch, "A technique for high-performance data compression", 1984.
struct LZWEncoder {
    /// The maximum number of codes, which have at most twelve bits.
    private static let maximumCodeCount = 4096

    /// A hash table of strings: 20 bits for the code of a string and the index that follows it, and 12 bits for the
    /// code of both. No string follows code 4095, so no entry has all bits set, as free slots have.
    private var slots = [UInt32](repeating: .max, count: 4 * maximumCodeCount)
    private let minimumCodeSize: Int
    private var codeSize: Int
    private var nextCode = 0
    private var bits: UInt32 = 0
    private var bitCount = 0
    /// The bytes before the codes, the minimum code size and the sub-blocks. The last one is not complete, and its
    /// length is not yet written.
    private var output: [UInt8]
    private var blockStart: Int

    private init(minimumCodeSize: Int, after head: [UInt8]) {
        self.minimumCodeSize = minimumCodeSize
        codeSize = minimumCodeSize + 1
        output = head + [UInt8(minimumCodeSize), 0]
        blockStart = output.count - 1
    }

    /// Returns the minimum code size and the sub-blocks of an image after other bytes, or nil if there are more than
    /// `maximumByteCount` bytes.
    ///
    /// - Parameters:
    ///   - indices: The palette indices row by row; at least one row of at least one pixel.
    ///   - width: The number of indices in a row.
    ///   - head: The bytes before the codes.
    /// - Throws: `failed` when the work of the thread is canceled.
    static func encode(
        _ indices: [UInt8], width: Int, after head: [UInt8], maximumByteCount: Int
    ) throws(ImageEncodingError) -> [UInt8]? {
        // The size is that of the indices, and not of the palette, which other images may use.
        let size = max(2, 8 - (indices.max() ?? 0).leadingZeroBitCount)
        var encoder = LZWEncoder(minimumCodeSize: size, after: head)
        return try encoder.append(indices, width: width, maximumByteCount: maximumByteCount) ? encoder.output : nil
    }

    /// Encodes an image. Returns whether there are at most `maximumByteCount` bytes.
    private mutating func append(
        _ indices: [UInt8], width: Int, maximumByteCount: Int
    ) throws(ImageEncodingError) -> Bool {
        clear()
        var prefix = UInt32(indices[0])
        var position = 1
        for end in stride(from: width, through: indices.count, by: width) {
            try ImageEncodingError.checkCancellation(.gif)
            guard output.count <= maximumByteCount else { return false }
            while position < end {
                let index = UInt32(indices[position])
                let key = prefix << 8 | index
                let slot = slot(of: key)
                guard slots[slot] == .max else {
                    prefix = slots[slot] & 0xFFF
                    position += 1
                    continue
                }
                put(Int(prefix))
                prefix = index
                position += 1
                if nextCode < Self.maximumCodeCount {
                    slots[slot] = key << 12 | UInt32(nextCode)
                    nextCode += 1
                } else {
                    clear()
                }
            }
        }
        put(Int(prefix))
        put((1 << minimumCodeSize) + 1)
        if bitCount > 0 { putByte() }
        output[blockStart] = UInt8(output.count - blockStart - 1)
        if output.count > blockStart + 1 { output.append(0) }
        return output.count <= maximumByteCount
    }

    /// Returns the slot that holds a string, or the free slot for it.
    @inline(__always)
    private func slot(of key: UInt32) -> Int {
        // Fibonacci hashing: the high bits of the product depend on all bits of the key.
        var slot = Int((key &* 0x9E37_79B1) >> 18)
        while slots[slot] != .max, slots[slot] >> 12 != key { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    /// Writes the clear code, and removes all strings from the table.
    private mutating func clear() {
        for slot in slots.indices { slots[slot] = .max }
        put(1 << minimumCodeSize)
        codeSize = minimumCodeSize + 1
        nextCode = (1 << minimumCodeSize) + 2
    }

    @inline(__always)
    private mutating func put(_ code: Int) {
        bits |= UInt32(code) << UInt32(bitCount)
        bitCount += codeSize
        while bitCount >= 8 { putByte() }
        // The decoder now has as many strings as the encoder.
        if nextCode == 1 << codeSize, codeSize < 12 { codeSize += 1 }
    }

    @inline(__always)
    private mutating func putByte() {
        if output.count - blockStart == 256 {
            output[blockStart] = 255
            blockStart = output.count
            output.append(0)
        }
        output.append(UInt8(truncatingIfNeeded: bits))
        bits >>= 8
        bitCount -= 8
    }
}
