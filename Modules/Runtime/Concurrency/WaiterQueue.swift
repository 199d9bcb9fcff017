/// A queue of waiters, ordered by priority. Within a priority, either the first or the last waiter to arrive is first.
///
/// All operations are O(log *n*), amortized, except ``removeAll()``, which is O(*n*). The queue is a heap of positions.
/// The positions of waiters that were removed or moved stay in it until they reach the top, or until they make up more
/// than three quarters of a heap of more than 64 positions. The type is inlinable, because queues in other modules are
/// short and every request uses them.
@usableFromInline
package struct WaiterQueue<Member: Sendable>: Sendable {
    /// The order of waiters of one priority.
    @usableFromInline
    package enum Order: Sendable {
        case firstComeFirst, lastComeFirst
    }

    /// A first waiter that was removed, with its position for inserting it again.
    @usableFromInline
    package struct First: Sendable {
        @usableFromInline package let id: Int
        @usableFromInline package let element: Member
        @usableFromInline let position: Position

        @inlinable
        init(id: Int, element: Member, position: Position) {
            (self.id, self.element, self.position) = (id, element, position)
        }
    }

    @usableFromInline
    struct Position: Sendable, Comparable {
        @usableFromInline var priority: Int
        /// The rank within the priority. The highest rank is first.
        @usableFromInline var rank: Int
        @usableFromInline var id: Int

        @inlinable
        init(priority: Int, rank: Int, id: Int) { (self.priority, self.rank, self.id) = (priority, rank, id) }

        @inlinable
        static func < (a: Self, b: Self) -> Bool { (a.priority, a.rank) < (b.priority, b.rank) }
    }

    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline var position: Position
        @usableFromInline var element: Member

        @inlinable
        init(position: Position, element: Member) { (self.position, self.element) = (position, element) }
    }

    @usableFromInline let order: Order
    @usableFromInline var entries: [Int: Entry] = [:]
    /// The binary heap of positions. No position precedes that of its parent.
    @usableFromInline var heap: [Position] = []
    @usableFromInline var lastRank = 0

    @inlinable
    package init(order: Order = .firstComeFirst) { self.order = order }

    @inlinable
    package var isEmpty: Bool { entries.isEmpty }

    @inlinable
    package var count: Int { entries.count }

    /// Adds a waiter in the queue's order, or before the other waiters of its priority if `atHead` is true. `id` must
    /// not be in the queue.
    @inlinable
    package mutating func add(_ id: Int, _ element: Member, priority: Int, atHead: Bool = false) {
        lastRank += 1
        let rank = order == .firstComeFirst && !atHead ? -lastRank : lastRank
        insert(id, element, at: Position(priority: priority, rank: rank, id: id))
    }

    /// Inserts a waiter at its former position, in this queue or another one.
    @inlinable
    package mutating func put(back first: First) { insert(first.id, first.element, at: first.position) }

    @inlinable
    mutating func insert(_ id: Int, _ element: Member, at position: Position) {
        entries[id] = Entry(position: position, element: element)
        push(position)
    }

    /// Changes the priority of a waiter but not its order of arrival. Returns whether the waiter is in the queue.
    @discardableResult @inlinable
    package mutating func move(_ id: Int, to priority: Int) -> Bool {
        guard var moved = entries[id] else { return false }
        guard moved.position.priority != priority else { return true }
        moved.position.priority = priority
        entries[id] = moved
        push(moved.position)
        return true
    }

    /// Removes and returns a waiter. Returns nil if it is not in the queue.
    @inlinable
    package mutating func remove(_ id: Int) -> Member? {
        entries.removeValue(forKey: id)?.element
    }

    /// Returns the first waiter without removing it; nil if the queue is empty.
    @inlinable
    package mutating func first() -> (element: Member, priority: Int)? {
        while let position = heap.first {
            if let found = entries[position.id], found.position == position {
                return (found.element, position.priority)
            }
            _ = popPosition()
        }
        return nil
    }

    /// Removes and returns the first waiter; nil if the queue is empty.
    @inlinable
    package mutating func popFirst() -> First? {
        while let position = popPosition() {
            guard let found = entries[position.id], found.position == position else { continue }
            entries[position.id] = nil
            return First(id: position.id, element: found.element, position: position)
        }
        return nil
    }

    /// Removes and returns all waiters, in no particular order.
    @inlinable
    package mutating func removeAll() -> [Member] {
        defer { (entries, heap) = ([:], []) }
        return entries.values.map(\.element)
    }

    @inlinable
    mutating func push(_ position: Position) {
        // Most positions are obsolete, so the heap is rebuilt.
        if heap.count > 64, heap.count > 4 * entries.count {
            heap = entries.values.map(\.position).sorted(by: >)
            return
        }
        heap.append(position)
        var index = heap.count - 1
        while index > 0, heap[(index - 1) / 2] < heap[index] {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    @inlinable
    mutating func popPosition() -> Position? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var index = 0
        while 2 * index + 1 < heap.count {
            var child = 2 * index + 1
            if child + 1 < heap.count, heap[child] < heap[child + 1] { child += 1 }
            guard heap[index] < heap[child] else { break }
            heap.swapAt(index, child)
            index = child
        }
        return first
    }
}
