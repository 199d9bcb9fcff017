import AlcedoCore

/// The bytes of a file. Valid as long as the closure that was given them runs.
typealias PNGBytes = UnsafeBufferPointer<UInt8>

extension PNGBytes {
    /// A number of two or four bytes, as PNG stores all of them; the caller has checked that it is there.
    func bigEndian(at offset: Int, bytes: Int = 4) -> Int {
        (0..<bytes).reduce(0) { $0 << 8 | Int(self[offset + $1]) }
    }

    /// A part of the bytes; what is outside is left out.
    func part(_ range: Range<Int>) -> PNGBytes {
        PNGBytes(rebasing: self[range.clamped(to: 0..<count)])
    }
}
