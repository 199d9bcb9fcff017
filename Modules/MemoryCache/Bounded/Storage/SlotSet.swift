/// Which slots hold an entry: all slots in a row, those in use before those that are free, so that a walk over the former
/// meets no other. Eight bytes a slot, every operation O(1), amortised where memory grows.
///
/// Source: P. Briggs, L. Torczon, "An Efficient Representation for Sparse Sets", ACM Letters on Programming Languages and
/// Systems 2 (1993).
@usableFromInline
struct SlotSet: Sendable {
    @usableFromInline var row = StableBuffer<Int32>()
    /// Where in the row a slot stands.
    @usableFromInline var places = StableBuffer<Int32>()
    /// How many are in use.
    @usableFromInline var count = 0

    @inlinable
    init() {}

    /// How many slots there are, in use or free.
    @inlinable var capacity: Int { row.count }

    /// The slot at a place below ``count``.
    @inlinable
    subscript(place: Int) -> Int { Int(row[place]) }

    @inlinable
    func contains(_ slot: Int) -> Bool { slot >= 0 && slot < places.count && places[slot] < count }

    /// Takes a free slot, the one that was freed last; a new one, numbered ``capacity``, when there is none.
    @inlinable
    mutating func take() -> Int {
        if count == row.count {
            row.append(Int32(count))
            places.append(Int32(count))
        }
        count += 1
        return self[count - 1]
    }

    /// Frees a slot that is in use. The last one in use comes to its place.
    @inlinable
    mutating func free(_ slot: Int) {
        count -= 1
        let (place, last) = (places[slot], row[count])
        row[Int(place)] = last
        places[Int(last)] = place
        row[count] = Int32(slot)
        places[slot] = Int32(count)
    }
}
