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

    /// The slot under `hash` for which `matches` holds.
    @inlinable @inline(__always)
    func slot(_ hash: Int, where matches: (Int) -> Bool) -> Int? {
        let mixed = HashIndex.mix(hash)
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
