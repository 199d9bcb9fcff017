/// Doubly linked lists of slots. Each slot is in at most one list and takes eight bytes. Every operation is O(1),
/// amortized when memory grows.
struct SlotLists: Sendable {
    private struct Link: Sendable {
        var newer: Int32 = -1
        var older: Int32 = -1
    }

    private struct Ends: Sendable {
        var newest: Int32 = -1
        var oldest: Int32 = -1
    }

    private var links = SlotArray<Link>()
    private var lists: ContiguousArray<Ends>

    init(count: Int) { lists = ContiguousArray(repeating: Ends(), count: count) }

    /// Returns the slot that was appended first, or nil if the list is empty.
    func oldest(of list: Int) -> Int? {
        let slot = lists[list].oldest
        return slot < 0 ? nil : Int(slot)
    }

    /// Returns the next newer slot, or nil if `slot` is the newest.
    func next(after slot: Int) -> Int? {
        let newer = links[slot].newer
        return newer < 0 ? nil : Int(newer)
    }

    private func isNewest(_ slot: Int, of list: Int) -> Bool { lists[list].newest == Int32(slot) }

    /// Adds a slot, which must not be in any list, as the newest.
    mutating func append(_ slot: Int, to list: Int) {
        while links.count <= slot { links.append(Link()) }
        let newest = lists[list].newest
        links[slot] = Link(newer: -1, older: newest)
        if newest < 0 { lists[list].oldest = Int32(slot) } else { links[Int(newest)].newer = Int32(slot) }
        lists[list].newest = Int32(slot)
    }

    mutating func remove(_ slot: Int, from list: Int) {
        let link = links[slot]
        if link.newer < 0 { lists[list].newest = link.older } else { links[Int(link.newer)].older = link.older }
        if link.older < 0 { lists[list].oldest = link.newer } else { links[Int(link.older)].newer = link.newer }
    }

    /// Removes and returns the slot that was appended first; nil if the list is empty.
    mutating func removeOldest(of list: Int) -> Int? {
        guard let slot = oldest(of: list) else { return nil }
        remove(slot, from: list)
        return slot
    }

    mutating func moveToNewest(_ slot: Int, of list: Int) {
        guard !isNewest(slot, of: list) else { return }
        remove(slot, from: list)
        append(slot, to: list)
    }

    mutating func removeAll() { self = SlotLists(count: lists.count) }
}
