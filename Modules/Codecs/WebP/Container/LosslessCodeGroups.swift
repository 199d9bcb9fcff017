import AlcedoCore

/// A reader of the beginning of a lossless bitstream, which determines the memory of its groups of prefix codes.
///
/// libwebp holds tables for all groups at once, about 6 KB for each, also if a group codes no pixels. A file of 300 KB
/// with a megapixel can have 65,536 groups, whose tables take 360 MB. Nothing but the pixels of an image within the
/// image states their number, so that image is read, but not kept. Source: RFC 9649 sections 3.4 to 3.7.
struct LosslessCodeGroups {
    /// The number of groups that libwebp holds even if no block of the image uses them. Of more groups, it holds only
    /// those that blocks use.
    private static let unusedCount = 1000

    /// The lengths of the codes that code the lengths of other codes are stored in this order.
    private static let lengthOrder = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]

    private let bytes: UnsafeBufferPointer<UInt8>
    /// The number of bits that have been read.
    private var position = 0
    /// Whether a bit after the last byte was read.
    private var hasEnded = false

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Returns the maximum number of bytes that libwebp holds for the groups of an image, 0 for bytes that libwebp
    /// rejects before it makes tables, or nil when more bytes are needed.
    ///
    /// - Parameters:
    ///   - size: The size of the image.
    ///   - bytes: The bytes of the bitstream after its size.
    /// - Complexity: O(bits).
    static func byteCount(of size: PixelSize, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var reader = Self(bytes)
        let count = reader.byteCount(size)
        return reader.hasEnded ? nil : count ?? 0
    }

    /// Returns the maximum number of bytes that libwebp holds for a group: the largest tables, with 4 bytes for each
    /// entry, and the group itself.
    private static func groupByteCount(colorCacheCount: Int) -> Int { 12_400 + 4 * colorCacheCount }

    /// Reads up to the groups. Returns nil for an invalid bitstream.
    private mutating func byteCount(_ size: PixelSize) -> Int? {
        var size = size
        var transforms: Set<Int> = []
        while bits(1) == 1 {
            let type = bits(2)
            guard transforms.insert(type).inserted else { return nil }
            switch type {
            case 0, 1:
                guard highestGroup(in: Self.divided(size, by: bits(3) + 2)) != nil else { return nil }
            case 3:
                let colorCount = bits(8) + 1
                guard highestGroup(in: PixelSize(width: colorCount, height: 1)) != nil else { return nil }
                // Several indices are stored as one pixel.
                let shift = colorCount > 16 ? 0 : colorCount > 4 ? 1 : colorCount > 2 ? 2 : 3
                size.width = (size.width + 1 << shift - 1) >> shift
            default: break
            }
        }
        guard let colorCacheCount = colorCacheCount() else { return nil }
        let groupByteCount = Self.groupByteCount(colorCacheCount: colorCacheCount)
        guard bits(1) == 1 else { return groupByteCount }
        let blocks = Self.divided(size, by: bits(3) + 2)
        guard let highest = highestGroup(in: blocks) else { return nil }
        let count = highest + 1
        let holdsUsedOnly = count > Self.unusedCount || count > size.pixelCount
        return (holdsUsedOnly ? min(count, blocks.pixelCount) : count) * groupByteCount
    }

    /// Reads the number of colors in the color cache. Returns nil for an invalid one.
    private mutating func colorCacheCount() -> Int? {
        guard bits(1) == 1 else { return 0 }
        let exponent = bits(4)
        return 1...11 ~= exponent ? 1 << exponent : nil
    }

    private static func divided(_ size: PixelSize, by shift: Int) -> PixelSize {
        let rest = (1 << shift) - 1
        return PixelSize(width: (size.width + rest) >> shift, height: (size.height + rest) >> shift)
    }

    /// Reads an image within the image, and returns the highest number that its red and green samples form, or nil for
    /// an invalid bitstream. Copied pixels, and those of the color cache, have appeared before.
    private mutating func highestGroup(in size: PixelSize) -> Int? {
        guard let colorCacheCount = colorCacheCount(), let green = code(280 + colorCacheCount), let red = code(256),
            let blue = code(256), let alpha = code(256), let distance = code(40)
        else { return nil }
        var (highest, left) = (0, size.pixelCount)
        while left > 0 {
            let start = position
            guard !hasEnded, let symbol = symbol(green) else { return nil }
            switch symbol {
            case ..<256:
                guard let high = self.symbol(red), self.symbol(blue) != nil, self.symbol(alpha) != nil
                else { return nil }
                highest = max(highest, high << 8 | symbol)
                left -= 1
            case ..<280:
                left -= number(symbol - 256)
                guard let symbol = self.symbol(distance) else { return nil }
                _ = number(symbol)
            default: left -= 1
            }
            // Without bits, all further pixels are the same.
            if position == start { break }
        }
        return highest
    }

    /// Reads the rest of a length or a distance. Source: RFC 9649 section 3.6.2.2.
    private mutating func number(_ symbol: Int) -> Int {
        guard symbol >= 4 else { return symbol + 1 }
        let extra = (symbol - 2) >> 1
        return (2 + symbol & 1) << extra + bits(extra) + 1
    }

    /// The next 25 bits or more. Those after the last byte are zero.
    private var window: UInt32 {
        let start = position >> 3
        var word: UInt32 = 0
        if start + 4 <= bytes.count {
            let memory = UnsafeRawBufferPointer(bytes)
            word = UInt32(littleEndian: memory.loadUnaligned(fromByteOffset: start, as: UInt32.self))
        } else {
            for index in start..<bytes.count { word |= UInt32(bytes[index]) << UInt32(8 * (index - start)) }
        }
        return word >> UInt32(position & 7)
    }

    private mutating func advance(_ count: Int) {
        if count <= 8 * bytes.count - position { position += count } else { hasEnded = true }
    }

    /// Reads at most 25 bits. Returns zero after the last byte.
    private mutating func bits(_ count: Int) -> Int {
        let value = Int(window & (1 << UInt32(count) - 1))
        advance(count)
        return hasEnded ? 0 : value
    }

    /// A canonical prefix code.
    private struct Code {
        /// The number of symbols for each length of a code, up to 15 bits.
        var counts = [Int](repeating: 0, count: 16)
        /// The symbols, in the order of their codes.
        var symbols: [Int] = []
        /// For each value of the next 8 bits, the symbol whose code they begin with, and in the low 4 bits the length
        /// of that code; zero for longer codes.
        var table = [UInt16](repeating: 0, count: 256)

        /// Returns nil if no symbol has a length.
        init?(_ lengths: some Collection<Int>) {
            for length in lengths where length > 0 { counts[length] += 1 }
            for length in 1...15 where counts[length] > 0 {
                symbols += lengths.enumerated().lazy.filter { $0.element == length }.map(\.offset)
            }
            if symbols.isEmpty { return nil }
            var (first, index) = (0, 0)
            for length in 1...8 {
                for (value, symbol) in zip(first..<1 << length, symbols[index..<index + counts[length]]) {
                    // The first bit of a code is its highest.
                    let bits = Int(UInt8(value << (8 - length)).reversedBits)
                    for bits in stride(from: bits, to: 256, by: 1 << length) {
                        table[bits] = UInt16(symbol << 4 | length)
                    }
                }
                index += counts[length]
                first = (first + counts[length]) << 1
                if first >= 2 << length { break }
            }
        }
    }

    /// Reads a symbol. Returns nil for bits that are no code. A single symbol takes no bits.
    private mutating func symbol(_ code: borrowing Code) -> Int? {
        guard code.symbols.count > 1 else { return code.symbols[0] }
        let window = window
        let entry = Int(code.table[Int(window & 255)])
        if entry > 0 {
            advance(entry & 15)
            return hasEnded ? nil : entry >> 4
        }
        var (value, first, index) = (0, 0, 0)
        for length in 1...15 {
            value |= Int(window >> UInt32(length - 1) & 1)
            let count = code.counts[length]
            if value - count < first {
                advance(length)
                return hasEnded ? nil : code.symbols[index + value - first]
            }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        advance(15)
        return nil
    }

    /// Reads the lengths of the codes of an alphabet. Source: RFC 9649 section 3.7.2.1.
    private mutating func code(_ symbolCount: Int) -> Code? {
        var lengths = [Int](repeating: 0, count: max(256, symbolCount))
        guard bits(1) == 0 else {
            let hasTwo = bits(1) == 1
            lengths[bits(bits(1) == 0 ? 1 : 8)] = 1
            if hasTwo { lengths[bits(8)] = 1 }
            return Code(lengths.prefix(symbolCount))
        }
        var lengthLengths = [Int](repeating: 0, count: 19)
        for index in 0..<min(bits(4) + 4, 19) { lengthLengths[Self.lengthOrder[index]] = bits(3) }
        guard let lengthCode = Code(lengthLengths) else { return nil }
        var left = symbolCount
        if bits(1) == 1 { left = 2 + bits(2 + 2 * bits(3)) }
        guard left <= symbolCount else { return nil }
        var (position, previous) = (0, 8)
        while position < symbolCount, left > 0 {
            left -= 1
            guard !hasEnded, let length = symbol(lengthCode) else { return nil }
            if length < 16 {
                lengths[position] = length
                position += 1
                if length > 0 { previous = length }
                continue
            }
            let count = length == 16 ? 3 + bits(2) : length == 17 ? 3 + bits(3) : 11 + bits(7)
            guard position + count <= symbolCount else { return nil }
            for _ in 0..<count {
                lengths[position] = length == 16 ? previous : 0
                position += 1
            }
        }
        return Code(lengths.prefix(symbolCount))
    }
}

extension UInt8 {
    /// The bits in reverse order.
    fileprivate var reversedBits: UInt8 {
        (0..<8).reduce(0) { $0 << 1 | self >> UInt8($1) & 1 }
    }
}
