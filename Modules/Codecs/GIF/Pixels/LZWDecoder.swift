import AlcedoCore

/// Turns the codes of one image into palette indices, as far as there are bytes and room.
///
/// The table is a chain: each entry is the entry it extends, its last byte and its length, so a string is written from
/// its end. Entries only ever point at earlier ones, and lengths follow from them, so no code can write outside the room
/// that is asked for. Source: GIF89a appendix F; Welch, "A technique for high-performance data compression", 1984.
struct LZWDecoder: ~Copyable {
    private struct Entry {
        var prefix: UInt16
        var suffix: UInt8
        var first: UInt8
        var length: Int32
    }

    /// Codes have at most twelve bits.
    private static let mostCodes = 4096
    /// No string is longer: every code adds one byte to an earlier one.
    static let longestString = mostCodes

    private let table: UnsafeMutablePointer<Entry>
    private let clearCode: Int
    private let firstCodeSize: Int
    private var codeSize: Int
    private var nextCode: Int
    private var previous = -1
    private var bits: UInt64 = 0
    private var bitCount = 0

    /// Whether the code has come that ends the image.
    private(set) var hasEnded = false

    /// - Parameter minimumCodeSize: Bits of a palette index, 1 to 11.
    init(minimumCodeSize: Int) {
        clearCode = 1 << minimumCodeSize
        firstCodeSize = minimumCodeSize + 1
        codeSize = firstCodeSize
        nextCode = clearCode + 2
        table = .allocate(capacity: Self.mostCodes)
        table.initialize(repeating: Entry(prefix: 0, suffix: 0, first: 0, length: 1), count: Self.mostCodes)
        for code in 0..<clearCode {
            // Indices above 255 name no colour of any palette; their low bytes are what other decoders keep.
            let index = UInt8(truncatingIfNeeded: code)
            table[code] = Entry(prefix: 0, suffix: index, first: index, length: 1)
        }
    }

    deinit { table.deallocate() }

    /// Checks the size of an image's first code.
    static func checkCodeSize(_ size: UInt8) throws(ImageDecodingError) {
        guard (1...11).contains(size) else { throw ImageDecodingError(.corrupt, "GIF: a code size of \(size) bits") }
    }

    /// Decodes until the input is used up, the code that ends the image comes, or the room may not suffice for another
    /// string.
    ///
    /// - Parameters:
    ///   - input: The next bytes of the image's sub-blocks; `position` is moved over those that were used.
    ///   - output: Where indices go; `count` is how many it holds, and grows.
    mutating func decode(
        _ input: UnsafeBufferPointer<UInt8>, position: inout Int, into output: UnsafeMutableBufferPointer<UInt8>,
        count: inout Int
    ) throws(ImageDecodingError) {
        guard let out = output.baseAddress, !hasEnded else { return }
        let room = output.count - Self.longestString
        // Copies that the loop can keep in registers.
        var (bits, bitCount, codeSize, nextCode, previous) = (bits, bitCount, codeSize, nextCode, previous)
        var (at, written) = (position, count)
        defer {
            (self.bits, self.bitCount, self.codeSize, self.nextCode, self.previous) =
                (bits, bitCount, codeSize, nextCode, previous)
            (position, count) = (at, written)
        }
        while written <= room {
            while bitCount < codeSize, at < input.count {
                bits |= UInt64(input[at]) &<< UInt64(bitCount)
                bitCount &+= 8
                at &+= 1
            }
            guard bitCount >= codeSize else { return }
            let code = Int(truncatingIfNeeded: bits & (1 &<< UInt64(codeSize) &- 1))
            bits &>>= UInt64(codeSize)
            bitCount &-= codeSize
            if code == clearCode {
                codeSize = firstCodeSize
                nextCode = clearCode &+ 2
                previous = -1
                continue
            }
            if code == clearCode &+ 1 {
                hasEnded = true
                return
            }
            if previous >= 0, nextCode < Self.mostCodes {
                guard code <= nextCode else { throw Self.impossible(code) }
                let extended = table[previous]
                let source = code == nextCode ? extended : table[code]
                table[nextCode] = Entry(
                    prefix: UInt16(truncatingIfNeeded: previous), suffix: source.first, first: extended.first,
                    length: extended.length &+ 1)
                nextCode &+= 1
            } else {
                guard code < (previous < 0 ? clearCode : nextCode) else { throw Self.impossible(code) }
            }
            // After the first code too: with indices of one bit the table is at the next size from the beginning.
            if nextCode == 1 &<< codeSize, codeSize < 12 { codeSize &+= 1 }
            previous = code
            var entry = table[code]
            written &+= Int(entry.length)
            var end = out + written
            while entry.length > 1 {
                end -= 1
                end.pointee = entry.suffix
                entry = table[Int(entry.prefix)]
            }
            (end - 1).pointee = entry.suffix
        }
    }

    private static func impossible(_ code: Int) -> ImageDecodingError {
        ImageDecodingError(.corrupt, "GIF: the code \(code) means nothing here")
    }
}
