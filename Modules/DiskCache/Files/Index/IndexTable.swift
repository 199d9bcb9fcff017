/// What an index knows, in memory: entries in an array, found by an open-addressing table of their places.
///
/// 80 bytes an entry, and 8 to 16 for finding it. Names are digests, so their bits need no hashing.
struct IndexTable: Sendable {
    private(set) var entries: [IndexEntry] = []
    private(set) var totalSize = 0
    /// Places of entries, by the first bits of their names and the next free place behind those; -1 is free.
    private var places: [Int32] = Array(repeating: -1, count: 16)

    var count: Int { entries.count }

    /// The place of an entry, until the next removal.
    func place(of name: EntryName) -> Int? {
        let mask = places.count - 1
        var slot = Int(truncatingIfNeeded: name.hash) & mask
        while true {
            let place = places[slot]
            guard place >= 0 else { return nil }
            if entries[Int(place)].name == name { return Int(place) }
            slot = (slot + 1) & mask
        }
    }

    subscript(place: Int) -> IndexEntry { entries[place] }

    mutating func reserve(_ count: Int) {
        entries.reserveCapacity(count)
        var size = places.count
        while size < count * 2 { size *= 2 }
        if size > places.count { rebuild(size) }
    }

    /// Adds an entry, or replaces what is known of it.
    mutating func put(_ entry: IndexEntry) {
        if let place = place(of: entry.name) {
            totalSize += entry.size - entries[place].size
            entries[place] = entry
            return
        }
        // More than anybody's disk has inodes for; a table that is damaged in this way is of no use.
        guard entries.count < Int(Int32.max) / 2 else { return }
        totalSize += entry.size
        entries.append(entry)
        if entries.count * 2 > places.count {
            rebuild(places.count * 2)
        } else {
            insert(entries.count - 1)
        }
    }

    mutating func setUse(_ place: Int, at date: Timestamp, number: Int64, expiry: Timestamp?) {
        entries[place].lastUse = date
        entries[place].useNumber = number
        entries[place].expiry = expiry
    }

    mutating func setSize(_ place: Int, _ size: Int) {
        totalSize += size - entries[place].size
        entries[place].size = size
    }

    @discardableResult
    mutating func remove(_ name: EntryName) -> IndexEntry? {
        let mask = places.count - 1
        var slot = Int(truncatingIfNeeded: name.hash) & mask
        while true {
            guard places[slot] >= 0 else { return nil }
            if entries[Int(places[slot])].name == name { break }
            slot = (slot + 1) & mask
        }
        let place = Int(places[slot])
        close(slot)
        let entry = entries[place]
        totalSize -= entry.size
        let last = entries.removeLast()
        if place < entries.count {
            // The last one takes the free place.
            var moved = Int(truncatingIfNeeded: last.name.hash) & mask
            while Int(places[moved]) != entries.count { moved = (moved + 1) & mask }
            places[moved] = Int32(place)
            entries[place] = last
        }
        return entry
    }

    mutating func removeAll() { self = IndexTable() }

    /// Frees a slot, and moves those behind it that were put off by it. Source: Knuth, TAOCP 6.4, algorithm R.
    private mutating func close(_ freed: Int) {
        let mask = places.count - 1
        var hole = freed
        var slot = (freed + 1) & mask
        while places[slot] >= 0 {
            let home = Int(truncatingIfNeeded: entries[Int(places[slot])].name.hash) & mask
            if (slot - home) & mask >= (slot - hole) & mask {
                places[hole] = places[slot]
                hole = slot
            }
            slot = (slot + 1) & mask
        }
        places[hole] = -1
    }

    private mutating func insert(_ place: Int) {
        let mask = places.count - 1
        var slot = Int(truncatingIfNeeded: entries[place].name.hash) & mask
        while places[slot] >= 0 { slot = (slot + 1) & mask }
        places[slot] = Int32(place)
    }

    private mutating func rebuild(_ size: Int) {
        places = Array(repeating: -1, count: size)
        for place in entries.indices { insert(place) }
    }
}
