/// Those who wait, those of a higher priority first, equals in the order they came or in the opposite one.
///
/// All operations are O(log *n*), amortised: a heap of places, in which the places of those who have left or moved stay
/// until they come up, or are most of it. Inlinable, because other modules' lines are short and in every request's way.
@usableFromInline
package struct WaiterQueue<Member: Sendable>: Sendable {
    /// Which of equals is first.
    @usableFromInline
    package enum Order: Sendable {
        case firstComeFirst, lastComeFirst
    }

    /// One who has left the line as its first, and may come back to the same place in this or another line.
    @usableFromInline
    package struct First: Sendable {
        @usableFromInline package let id: Int
        @usableFromInline package let element: Member
        @usableFromInline let place: Place

        @inlinable
        init(id: Int, element: Member, place: Place) { (self.id, self.element, self.place) = (id, element, place) }
    }

    @usableFromInline
    struct Place: Sendable, Comparable {
        @usableFromInline var priority: Int
        /// The larger one is first.
        @usableFromInline var rank: Int
        @usableFromInline var id: Int

        @inlinable
        init(priority: Int, rank: Int, id: Int) { (self.priority, self.rank, self.id) = (priority, rank, id) }

        @inlinable
        static func < (a: Self, b: Self) -> Bool { (a.priority, a.rank) < (b.priority, b.rank) }
    }

    @usableFromInline
    struct Waiting: Sendable {
        @usableFromInline var place: Place
        @usableFromInline var element: Member

        @inlinable
        init(place: Place, element: Member) { (self.place, self.element) = (place, element) }
    }

    @usableFromInline let order: Order
    @usableFromInline var waiting: [Int: Waiting] = [:]
    /// Each place is not before that of its parent, at half its index.
    @usableFromInline var heap: [Place] = []
    @usableFromInline var lastRank = 0

    @inlinable
    package init(order: Order = .firstComeFirst) { self.order = order }

    @inlinable
    package var isEmpty: Bool { waiting.isEmpty }

    @inlinable
    package var count: Int { waiting.count }

    /// Adds one at the end of its priority's line, or at its head. `id` must not be in the line.
    @inlinable
    package mutating func add(_ id: Int, _ element: Member, priority: Int, atHead: Bool = false) {
        lastRank += 1
        let rank = order == .firstComeFirst && !atHead ? -lastRank : lastRank
        put(id, element, at: Place(priority: priority, rank: rank, id: id))
    }

    /// Adds one where it was in this line, or in one that it came from.
    @inlinable
    package mutating func put(back first: First) { put(first.id, first.element, at: first.place) }

    @inlinable
    mutating func put(_ id: Int, _ element: Member, at place: Place) {
        waiting[id] = Waiting(place: place, element: element)
        push(place)
    }

    /// Gives one another priority; its time of coming stays. Returns whether it is in the line.
    @discardableResult @inlinable
    package mutating func move(_ id: Int, to priority: Int) -> Bool {
        guard var moved = waiting[id] else { return false }
        guard moved.place.priority != priority else { return true }
        moved.place.priority = priority
        waiting[id] = moved
        push(moved.place)
        return true
    }

    /// Takes one out; nil when it is not in the line.
    @inlinable
    package mutating func remove(_ id: Int) -> Member? {
        waiting.removeValue(forKey: id)?.element
    }

    /// The first, who stays.
    @inlinable
    package mutating func first() -> (element: Member, priority: Int)? {
        while let place = heap.first {
            if let found = waiting[place.id], found.place == place {
                return (found.element, place.priority)
            }
            _ = popPlace()
        }
        return nil
    }

    /// Takes out the first.
    @inlinable
    package mutating func popFirst() -> First? {
        while let place = popPlace() {
            guard let found = waiting[place.id], found.place == place else { continue }
            waiting[place.id] = nil
            return First(id: place.id, element: found.element, place: place)
        }
        return nil
    }

    /// Takes out everyone, in no order.
    @inlinable
    package mutating func removeAll() -> [Member] {
        defer { (waiting, heap) = ([:], []) }
        return waiting.values.map(\.element)
    }

    @inlinable
    mutating func push(_ place: Place) {
        // Most of it is of those who have left: begin anew.
        if heap.count > 64, heap.count > 4 * waiting.count {
            heap = waiting.values.map(\.place).sorted(by: >)
            return
        }
        heap.append(place)
        var index = heap.count - 1
        while index > 0, heap[(index - 1) / 2] < heap[index] {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    @inlinable
    mutating func popPlace() -> Place? {
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
