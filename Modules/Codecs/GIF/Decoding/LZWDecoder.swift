import AlcedoCore

/// Turns the codes of one image into palette indices, as far as there are bytes and room.
///
/// Every entry of the table holds the last eight indices of its string, or fewer, and the entry that holds those before
/// them, so a string is written eight indices at a time, from its end. Entries only ever point at earlier ones, and
/// lengths follow from them, so no code can write outside the room that is asked for. Source: GIF89a appendix F; Welch,
/// "A technique for high-performance data compression", 1984.
struct LZWDecoder: ~Copyable {
    private struct Entry {
        /// The first of these indices is in the lowest byte.
        var tail: UInt64
        /// The entry with the indices before the tail.
        var prefix: UInt16
        /// One less than the number of all indices.
        var lastIndex: UInt16
    }

    /// Codes have at most twelve bits.
    private static let maximumCodeCount = 4096
    /// No string is longer: every code adds one index to an earlier one. Eight are written at a time.
    static let maximumStringLength = maximumCodeCount + 8

    private let table: UnsafeMutablePointer<Entry>
    private let clearCode: Int
    private let firstCodeSize: Int
    private var codeSize: Int
    private var nextCode: Int
    private var previous = -1
    /// The first index of the previous code's string.
    private var previousFirst: UInt8 = 0
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
        table = .allocate(capacity: Self.maximumCodeCount)
        table.initialize(repeating: Entry(tail: 0, prefix: 0, lastIndex: 0), count: Self.maximumCodeCount)
        for code in 0..<clearCode {
            // Indices above 255 name no colour of any palette; their low bytes are what other decoders keep.
            table[code].tail = UInt64(UInt8(truncatingIfNeeded: code))
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
        let room = output.count - Self.maximumStringLength
        // Copies that the loop can keep in registers.
        var (bits, bitCount, codeSize, nextCode) = (bits, bitCount, codeSize, nextCode)
        var (previous, first, at, written) = (previous, previousFirst, position, count)
        defer {
            (self.bits, self.bitCount, self.codeSize, self.nextCode) = (bits, bitCount, codeSize, nextCode)
            (self.previous, previousFirst, position, count) = (previous, first, at, written)
        }
        while written <= room {
            Self.refill(&bits, &bitCount, input, &at)
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
            let grows = previous >= 0 && nextCode < Self.maximumCodeCount
            if code < (previous < 0 ? clearCode : nextCode) {
                written &+= write(code, to: out + written)
                first = UInt8(truncatingIfNeeded: out[written &- Int(table[code].lastIndex) &- 1])
                if grows { extend(previous, by: first, as: nextCode) }
            } else {
                // The entry that this very code makes: the string before and its own first index.
                guard grows, code == nextCode else { throw Self.impossible(code) }
                extend(previous, by: first, as: nextCode)
                written &+= write(code, to: out + written)
            }
            if grows { nextCode &+= 1 }
            // After the first code too: with indices of one bit the table is at the next size from the beginning.
            if nextCode == 1 &<< codeSize, codeSize < 12 { codeSize &+= 1 }
            previous = code
        }
    }

    /// Takes as many whole bytes as fit; at least the bits of a code when there are any.
    @inline(__always)
    private static func refill(
        _ bits: inout UInt64, _ bitCount: inout Int, _ input: UnsafeBufferPointer<UInt8>, _ at: inout Int
    ) {
        guard bitCount < 12 else { return }
        if at &+ 8 <= input.count, let base = input.baseAddress {
            let word = UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self)
            bits |= UInt64(littleEndian: word) &<< UInt64(bitCount)
            let taken = (63 &- bitCount) &>> 3
            at &+= taken
            bitCount &+= taken &* 8
            // What was taken in part comes again.
            bits &= ~0 &>> UInt64(64 &- bitCount)
        } else {
            while bitCount < 12, at < input.count {
                bits |= UInt64(input[at]) &<< UInt64(bitCount)
                bitCount &+= 8
                at &+= 1
            }
        }
    }

    /// Writes the string of a code, and up to seven indices that do not count after it. Returns its length.
    @inline(__always)
    private func write(_ code: Int, to out: UnsafeMutablePointer<UInt8>) -> Int {
        var entry = table[code]
        let length = Int(entry.lastIndex) &+ 1
        var offset = Int(entry.lastIndex) & ~7
        while true {
            UnsafeMutableRawPointer(out + offset).storeBytes(of: entry.tail.littleEndian, as: UInt64.self)
            guard offset > 0 else { return length }
            offset &-= 8
            entry = table[Int(entry.prefix)]
        }
    }

    /// Makes the entry of a string and one index more.
    @inline(__always)
    private func extend(_ code: Int, by index: UInt8, as newCode: Int) {
        let entry = table[code]
        let last = entry.lastIndex &+ 1
        let shift = UInt64(last & 7) &* 8
        table[newCode] =
            shift == 0
            ? Entry(tail: UInt64(index), prefix: UInt16(truncatingIfNeeded: code), lastIndex: last)
            : Entry(tail: entry.tail | UInt64(index) &<< shift, prefix: entry.prefix, lastIndex: last)
    }

    private static func impossible(_ code: Int) -> ImageDecodingError {
        ImageDecodingError(.corrupt, "GIF: the code \(code) means nothing here")
    }
}
