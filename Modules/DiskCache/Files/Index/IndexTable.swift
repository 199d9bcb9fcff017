import AlcedoCore

/// The entries of an index in memory: an array, and an open-addressing hash table of positions in the array.
///
/// An entry takes 96 bytes in the array, and usually 16 to 32 bytes in the hash table. Removing single entries frees no
/// memory. Names are digests, so their bits serve as hashes.
struct IndexTable: Sendable {
    /// The position of an entry, and a part of its name as a tag. A search compares the tags first, so it rarely reads
    /// another entry.
    private struct Slot: Sendable {
        static let free = Slot(position: -1, tag: 0)

        var position: Int32
        var tag: UInt32

        init(position: Int32, tag: UInt32) { (self.position, self.tag) = (position, tag) }

        init(_ position: Int, _ name: EntryName) { self.init(position: Int32(position), tag: Slot.tag(of: name)) }

        var isFree: Bool { position < 0 }

        static func tag(of name: EntryName) -> UInt32 { UInt32(truncatingIfNeeded: name.hash >> 32) }
    }

    private(set) var entries: [IndexEntry] = []
    private(set) var totalSize = 0
    /// The slots. The low bits of the first word of an entry's name are the number of its slot. If that slot is taken,
    /// the entry is in one of the following slots. The first slot follows the last.
    private var slots: [Slot] = Array(repeating: .free, count: 16)

    var count: Int { entries.count }

    /// Returns the position of an entry, or nil if there is none. The position is valid until the next removal.
    func position(of name: EntryName) -> Int? { slot(of: name).map { Int(slots[$0].position) } }

    subscript(position: Int) -> IndexEntry { entries[position] }

    mutating func reserve(_ count: Int) {
        entries.reserveCapacity(count)
        var size = slots.count
        while size < (count + 1) * 2 { size *= 2 }
        if size > slots.count { rebuild(size) }
    }

    /// Returns the position in the first slot of a hash, or -1 if the slot is free. Reading several slots in advance
    /// loads the memory that ``put(_:)`` is about to need.
    func prefetch(_ hash: UInt64) -> Int32 { slots[home(hash)].position }

    /// Adds or replaces an entry. Does nothing if the number of entries or the total size would become too large for
    /// the table.
    mutating func put(_ entry: IndexEntry) {
        // Positions have 32 bits, and the total size must not overflow even if the index file is damaged.
        guard entries.count < Int(Int32.max) / 2, entry.size <= .max - totalSize else { return }
        if (entries.count + 1) * 2 > slots.count { rebuild(slots.count * 2) }
        var slot = home(entry.name.hash)
        let tag = Slot.tag(of: entry.name)
        while !slots[slot].isFree {
            let position = Int(slots[slot].position)
            if slots[slot].tag == tag, entries[position].name == entry.name {
                totalSize += entry.size - entries[position].size
                entries[position] = entry
                return
            }
            slot = next(slot)
        }
        slots[slot] = Slot(entries.count, entry.name)
        entries.append(entry)
        totalSize += entry.size
    }

    mutating func setUse(_ position: Int, at date: Timestamp, number: Int64, expiry: Timestamp?) {
        entries[position].lastUse = date
        entries[position].useNumber = number
        entries[position].expiry = expiry
    }

    @discardableResult
    mutating func remove(_ name: EntryName) -> IndexEntry? {
        guard let slot = slot(of: name) else { return nil }
        let position = Int(slots[slot].position)
        close(slot)
        let entry = entries[position]
        totalSize -= entry.size
        let last = entries.removeLast()
        if position < entries.count {
            // The last entry moves to the free position.
            var moved = home(last.name.hash)
            while Int(slots[moved].position) != entries.count { moved = next(moved) }
            slots[moved].position = Int32(position)
            entries[position] = last
        }
        return entry
    }

    mutating func removeAll() { self = IndexTable() }

    private func slot(of name: EntryName) -> Int? {
        var slot = home(name.hash)
        let tag = Slot.tag(of: name)
        while !slots[slot].isFree {
            if slots[slot].tag == tag, entries[Int(slots[slot].position)].name == name { return slot }
            slot = next(slot)
        }
        return nil
    }

    private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (slots.count - 1) }

    private func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    /// Frees a slot and closes the gap. Entries in the following slots move back toward the slots of their hashes.
    /// Source: Knuth, TAOCP 6.4, algorithm R.
    private mutating func close(_ freed: Int) {
        let mask = slots.count - 1
        var hole = freed
        var slot = next(freed)
        while !slots[slot].isFree {
            let home = home(entries[Int(slots[slot].position)].name.hash)
            if (slot - home) & mask >= (slot - hole) & mask {
                slots[hole] = slots[slot]
                hole = slot
            }
            slot = next(slot)
        }
        slots[hole] = .free
    }

    private mutating func rebuild(_ size: Int) {
        slots = Array(repeating: .free, count: size)
        for position in entries.indices {
            var slot = home(entries[position].name.hash)
            while !slots[slot].isFree { slot = next(slot) }
            slots[slot] = Slot(position, entries[position].name)
        }
    }
}
