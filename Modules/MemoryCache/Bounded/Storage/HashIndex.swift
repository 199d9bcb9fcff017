/// A hash table of slots: open addressing with linear probing and backward-shift deletion, at most four fifths full.
///
/// A cell holds a slot and the high 32 bits of the mixed hash in eight bytes. A lookup among a million entries
/// therefore touches one cache line of the table and one of the entry. These bits include the home position, so that an
/// insertion or a removal accesses no other entry. The hashes must be well distributed. If keys come from an untrusted
/// source, the hash must be keyed, as that of the standard library's `Hasher` is. Every operation is expected O(1),
/// amortized over the growth, which doubles the table.
///
/// Source: D. E. Knuth, The Art of Computer Programming 3, section 6.4, algorithms L and R.
@usableFromInline
struct HashIndex: Sendable {
    /// The cells: 0 if free, otherwise the tag in the high half and the slot plus one in the low half. At most 2^32.
    @usableFromInline var cells = StableBuffer<UInt64>(repeating: 0, count: 16)
    @usableFromInline var shift: UInt64 = 60
    @usableFromInline var count = 0

    @inlinable init() {}

    /// Returns the slot under `hash` that satisfies `matches`; nil if there is none. `matches` must compare the key or
    /// the hash, because it may also receive slots under other hashes.
    @inlinable @inline(__always)
    func slot(_ hash: Int, where matches: (Int) -> Bool) -> Int? {
        HashProbe(cells: cells.base, mask: cells.count - 1, shift: shift).slot(hash, where: matches)
    }

    /// Adds a slot that is not in the table.
    @usableFromInline
    mutating func insert(_ slot: Int, hash: Int) {
        if (count + 1) * 5 > cells.count * 4 { grow() }
        count += 1
        insertCell(Self.cell(slot, hash))
    }

    /// Removes a slot if it is in the table.
    @usableFromInline
    mutating func remove(_ slot: Int, hash: Int) {
        let mask = cells.count - 1
        let target = Self.cell(slot, hash)
        var hole = home(of: target)
        while cells[hole] != target {
            if cells[hole] == 0 { return }
            hole = (hole + 1) & mask
        }
        count -= 1
        var next = (hole + 1) & mask
        while cells[next] != 0 {
            // A cell may move back as far as its home position.
            if (next - home(of: cells[next])) & mask >= (next - hole) & mask {
                cells[hole] = cells[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        cells[hole] = 0
    }

    private mutating func grow() {
        let old = cells
        cells = StableBuffer(repeating: 0, count: old.count * 2)
        shift -= 1
        for position in 0..<old.count where old[position] != 0 {
            insertCell(old[position])
        }
    }

    private mutating func insertCell(_ cell: UInt64) {
        let mask = cells.count - 1
        var position = home(of: cell)
        while cells[position] != 0 { position = (position + 1) & mask }
        cells[position] = cell
    }

    private func home(of cell: UInt64) -> Int { Int(truncatingIfNeeded: cell >> shift) }

    private static func cell(_ slot: Int, _ hash: Int) -> UInt64 { HashProbe.mix(hash) | UInt64(slot + 1) }
}

/// The search in a ``HashIndex``, which operates directly on its cells.
@usableFromInline
struct HashProbe {
    @usableFromInline let cells: UnsafeMutablePointer<UInt64>
    @usableFromInline let mask: Int
    @usableFromInline let shift: UInt64

    @inlinable @inline(__always)
    init(cells: UnsafeMutablePointer<UInt64>, mask: Int, shift: UInt64) {
        (self.cells, self.mask, self.shift) = (cells, mask, shift)
    }

    /// Returns the tag of a hash, in the high half, with zeros in the low half. The highest bits are the home position.
    @inlinable
    static func mix(_ hash: Int) -> UInt64 {
        // The factor is 2^64 divided by the golden ratio, made odd. The high bits of the product depend on all bits of
        // the hash.
        UInt64(truncatingIfNeeded: hash) &* 0x9E37_79B9_7F4A_7C15 & ~0xFFFF_FFFF
    }

    /// Returns the slot under `hash` that satisfies `matches`; nil if there is none. `matches` must compare the key or
    /// the hash, because it may also receive slots under other hashes.
    @inlinable @inline(__always)
    func slot(_ hash: Int, where matches: (Int) -> Bool) -> Int? {
        let tag = Self.mix(hash)
        // The shift is below 64, so it needs no check.
        var position = Int(truncatingIfNeeded: tag &>> shift)
        while true {
            let cell = cells[position]
            if cell == 0 { return nil }
            if (cell ^ tag) >> 32 == 0 {
                let slot = Int(truncatingIfNeeded: cell & 0xFFFF_FFFF) &- 1
                if matches(slot) { return slot }
            }
            position = (position &+ 1) & mask
        }
    }
}
