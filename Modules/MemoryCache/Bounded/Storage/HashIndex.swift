/// A hash table of slots: open addressing with linear probing and backward-shift deletion, at most three quarters full.
///
/// A cell holds a slot and 32 bits of the hash in eight bytes, so that a lookup among a million entries touches one
/// cache line of the table and one of the entry. The hashes must be well distributed. If keys come from an untrusted
/// source, the hash must be keyed, as that of the standard library's `Hasher` is. Every operation is expected O(1),
/// amortized over the growth, which doubles the table.
///
/// Source: D. E. Knuth, The Art of Computer Programming 3, section 6.4, algorithms L and R.
@usableFromInline
struct HashIndex: Sendable {
    /// The cells: 0 if free, otherwise the tag in the high half and the slot plus one in the low half.
    @usableFromInline var cells = StableBuffer<UInt64>(repeating: 0, count: 16)
    @usableFromInline var shift: UInt64 = 60
    @usableFromInline var count = 0

    @inlinable init() {}

    /// Returns the slot under `hash` that satisfies `matches`; nil if there is none. `matches` must compare the hash,
    /// because it may also receive slots under other hashes.
    @inlinable @inline(__always)
    func slot(_ hash: Int, where matches: (Int) -> Bool) -> Int? {
        HashProbe(cells: cells.base, mask: cells.count - 1, shift: shift).slot(hash, where: matches)
    }

    /// Adds a slot that is not in the table. `hashOf` returns the hash under which another slot was added.
    @usableFromInline
    mutating func insert(_ slot: Int, hash: Int, hashOf: (Int) -> Int) {
        if (count + 1) * 4 > cells.count * 3 { grow(hashOf) }
        count += 1
        insertCell(Self.cell(slot, hash), HashProbe.mix(hash))
    }

    /// Removes a slot if it is in the table.
    @usableFromInline
    mutating func remove(_ slot: Int, hash: Int, hashOf: (Int) -> Int) {
        let mask = cells.count - 1
        let target = Self.cell(slot, hash)
        var hole = Int(truncatingIfNeeded: HashProbe.mix(hash) >> shift)
        while cells[hole] != target {
            if cells[hole] == 0 { return }
            hole = (hole + 1) & mask
        }
        count -= 1
        var next = (hole + 1) & mask
        while cells[next] != 0 {
            let home = Int(truncatingIfNeeded: HashProbe.mix(hashOf(Self.slot(cells[next]))) >> shift)
            // A cell may move back as far as its home position.
            if (next - home) & mask >= (next - hole) & mask {
                cells[hole] = cells[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        cells[hole] = 0
    }

    private mutating func grow(_ hashOf: (Int) -> Int) {
        let old = cells
        cells = StableBuffer(repeating: 0, count: old.count * 2)
        shift -= 1
        for position in 0..<old.count where old[position] != 0 {
            insertCell(old[position], HashProbe.mix(hashOf(Self.slot(old[position]))))
        }
    }

    private mutating func insertCell(_ cell: UInt64, _ mixed: UInt64) {
        let mask = cells.count - 1
        var position = Int(truncatingIfNeeded: mixed >> shift)
        while cells[position] != 0 { position = (position + 1) & mask }
        cells[position] = cell
    }

    private static func cell(_ slot: Int, _ hash: Int) -> UInt64 { HashProbe.mix(hash) << 32 | UInt64(slot + 1) }

    private static func slot(_ cell: UInt64) -> Int { Int(truncatingIfNeeded: cell & 0xFFFF_FFFF) - 1 }
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

    /// Mixes the bits of a hash. The high bits give the home position and the low bits the tag.
    @inlinable
    static func mix(_ hash: Int) -> UInt64 {
        // The factor is 2^64 divided by the golden ratio, made odd. Without the shift, the low bits would not depend on
        // the high ones.
        let product = UInt64(truncatingIfNeeded: hash) &* 0x9E37_79B9_7F4A_7C15
        return product ^ product >> 32
    }

    /// Returns the slot under `hash` that satisfies `matches`; nil if there is none. `matches` must compare the hash,
    /// because it may also receive slots under other hashes.
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
