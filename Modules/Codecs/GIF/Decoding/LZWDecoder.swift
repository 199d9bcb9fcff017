import AlcedoCore

/// A decoder of the codes of one image into palette indices.
///
/// Every table entry holds the last indices of its string, at most eight, and refers to the entry with the preceding
/// indices. A string is therefore written eight indices at a time, starting at its end. Entries refer only to earlier
/// entries, which determine their lengths, so no code can write outside the output memory. Source: GIF89a appendix F;
/// Welch, "A technique for high-performance data compression", 1984.
struct LZWDecoder: ~Copyable {
    private struct Entry {
        /// The last indices of the string. The first of them is in the lowest byte.
        var tail: UInt64
        /// The entry with the indices before the tail.
        var prefix: UInt16
        /// The total number of indices minus one.
        var lastIndex: UInt16
    }

    /// The maximum number of codes, which have at most twelve bits.
    private static let maximumCodeCount = 4096
    /// An upper bound for the number of indices that writing one string can touch. Every code adds one index to an
    /// earlier string, so a string is not longer than the number of codes. The last eight indices are written together,
    /// and some of them may lie after the end of the string.
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

    /// Whether the end code of the image has been read.
    private(set) var hasEnded = false
    /// Whether a code was invalid. Another string was decoded in its place.
    private(set) var hasWrongCodes = false

    /// Creates a decoder.
    ///
    /// - Parameter minimumCodeSize: The number of bits of a palette index, from 1 to 11.
    init(minimumCodeSize: Int) {
        clearCode = 1 << minimumCodeSize
        firstCodeSize = minimumCodeSize + 1
        codeSize = firstCodeSize
        nextCode = clearCode + 2
        table = .allocate(capacity: Self.maximumCodeCount)
        table.initialize(repeating: Entry(tail: 0, prefix: 0, lastIndex: 0), count: Self.maximumCodeCount)
        for code in 0..<clearCode {
            // Indices above 255 are outside every palette. Other decoders keep their low bytes, too.
            table[code].tail = UInt64(UInt8(truncatingIfNeeded: code))
        }
    }

    deinit { table.deallocate() }

    /// Checks the minimum code size of an image. Throws `corrupt` outside of 1 to 11 bits.
    static func checkCodeSize(_ size: UInt8) throws(ImageDecodingError) {
        guard (1...11).contains(size) else {
            throw ImageDecodingError(.corrupt, "GIF: invalid code size of \(size) bits")
        }
    }

    /// Continues after an end code that was read too early, which must be a wrong code.
    mutating func resume() {
        hasEnded = false
        hasWrongCodes = true
    }

    /// Decodes until the input is used up, the end code is read, or the output might not have room for another string.
    ///
    /// An invalid code is decoded like the next one that the format allows, so that the codes after it, which may be
    /// correct, keep their meaning.
    ///
    /// - Parameters:
    ///   - input: The next bytes of the image's sub-blocks.
    ///   - position: The offset of the next byte in `input`. Is advanced over the bytes that were used.
    ///   - output: The memory for indices.
    ///   - count: The number of indices in `output`. Is increased by the number of decoded indices.
    mutating func decode(
        _ input: UnsafeBufferPointer<UInt8>, position: inout Int, into output: UnsafeMutableBufferPointer<UInt8>,
        count: inout Int
    ) {
        guard let out = output.baseAddress, !hasEnded else { return }
        let limit = output.count - Self.maximumStringLength
        // Local copies can stay in registers during the loop.
        var (bits, bitCount, codeSize, nextCode) = (bits, bitCount, codeSize, nextCode)
        var (previous, first, at, written) = (previous, previousFirst, position, count)
        defer {
            (self.bits, self.bitCount, self.codeSize, self.nextCode) = (bits, bitCount, codeSize, nextCode)
            (self.previous, previousFirst, position, count) = (previous, first, at, written)
        }
        while written <= limit {
            Self.refill(&bits, &bitCount, input, &at)
            guard bitCount >= codeSize else { return }
            var code = Int(truncatingIfNeeded: bits & (1 &<< UInt64(codeSize) &- 1))
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
                if !grows || code != nextCode {
                    hasWrongCodes = true
                    code = grows ? nextCode : max(0, previous)
                }
                // The code refers to the entry that it creates: the previous string followed by its own first index.
                if grows { extend(previous, by: first, as: nextCode) }
                written &+= write(code, to: out + written)
                if previous < 0 { first = 0 }
            }
            if grows { nextCode &+= 1 }
            // The size is also checked after the first code, because a table of one-bit indices is full at the start.
            if nextCode == 1 &<< codeSize, codeSize < 12 { codeSize &+= 1 }
            previous = code
        }
    }

    /// Reads whole bytes until there are at least 12 bits, the maximum size of a code, or the input is used up.
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
            // Bits of a partly used byte are read again.
            bits &= ~0 &>> UInt64(64 &- bitCount)
        } else {
            while bitCount < 12, at < input.count {
                bits |= UInt64(input[at]) &<< UInt64(bitCount)
                bitCount &+= 8
                at &+= 1
            }
        }
    }

    /// Writes the string of a code, followed by up to seven unused indices. Returns the length of the string.
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

    /// Creates the entry `newCode`, whose string is the string of `code` followed by `index`.
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
}
