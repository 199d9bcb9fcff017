/// The search of a ``HashIndex``, on its cells.
@usableFromInline
struct HashProbe {
    @usableFromInline let cells: UnsafeMutablePointer<UInt64>
    @usableFromInline let mask: Int
    @usableFromInline let shift: UInt64

    @inlinable @inline(__always)
    init(cells: UnsafeMutablePointer<UInt64>, mask: Int, shift: UInt64) {
        (self.cells, self.mask, self.shift) = (cells, mask, shift)
    }

    /// Spreads a hash: its home is in the high bits, its tag in the low.
    @inlinable
    static func mix(_ hash: Int) -> UInt64 {
        // 2^64 divided by the golden ratio; odd. Without the shift the low bits would know nothing of the high ones.
        let product = UInt64(truncatingIfNeeded: hash) &* 0x9E37_79B9_7F4A_7C15
        return product ^ product >> 32
    }

    /// The slot under `hash` for which `matches` holds.
    @inlinable @inline(__always)
    func slot(_ hash: Int, where matches: (Int) -> Bool) -> Int? {
        let mixed = Self.mix(hash)
        let tag = mixed << 32
        var position = Int(truncatingIfNeeded: mixed >> shift)
        while true {
            let cell = cells[position]
            if cell == 0 { return nil }
            if (cell ^ tag) >> 32 == 0 {
                let slot = Int(truncatingIfNeeded: cell & 0xFFFF_FFFF) - 1
                if matches(slot) { return slot }
            }
            position = (position + 1) & mask
        }
    }
}
