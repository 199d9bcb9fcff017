import AlcedoCore
import TestSupport
import Testing

@testable import AlcedoRuntime

@Suite
struct WaiterQueueTests {
    /// A reference implementation: an array that is searched.
    private struct Model {
        var waiting: [(id: Int, priority: LoadPriority, rank: Int)] = []

        mutating func popFirst() -> Int? {
            guard let best = waiting.max(by: { ($0.priority, -$0.rank) < ($1.priority, -$1.rank) }) else { return nil }
            waiting.removeAll { $0.id == best.id }
            return best.id
        }
    }

    @Test(arguments: [1, 2, 3, 4])
    func `a queue returns what a searched array returns`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = WaiterQueue<Int>()
        var model = Model()
        for step in 0..<5_000 {
            let priority = LoadPriority.allCases.randomElement(using: &generator) ?? .normal
            let known = model.waiting.randomElement(using: &generator)?.id
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<4:
                queue.add(step, step, priority: priority)
                model.waiting.append((step, priority, step))
            case 4..<6:
                guard let known else { continue }
                let isMoved = queue.move(known, to: priority)
                #expect(isMoved)
                for index in model.waiting.indices where model.waiting[index].id == known {
                    model.waiting[index].priority = priority
                }
            case 6:
                guard let known else { continue }
                let removed = queue.remove(known)
                #expect(removed == known)
                model.waiting.removeAll { $0.id == known }
            case 7:
                guard let first = queue.popFirst() else { continue }
                queue.put(back: first)
            default:
                let (first, expected) = (queue.popFirst()?.element, model.popFirst())
                #expect(first == expected)
            }
            #expect(queue.count == model.waiting.count)
        }
        while let expected = model.popFirst() {
            let first = queue.popFirst()?.id
            #expect(first == expected)
        }
        #expect(queue.isEmpty)
    }

    @Test func `a last-come-first queue returns the newest waiter of a priority first`() {
        var queue = WaiterQueue<String>(order: .lastComeFirst)
        queue.add(1, "a", priority: .normal)
        queue.add(2, "b", priority: .normal)
        queue.add(3, "c", priority: .low)

        let all = [queue.popFirst()?.element, queue.popFirst()?.element, queue.popFirst()?.element]
        #expect(all == ["b", "a", "c"])
    }

    @Test func `a removed waiter does not return, and an unknown one is not found`() {
        var queue = WaiterQueue<Int>()
        queue.add(1, 10, priority: .high)
        let removals = [queue.remove(1), queue.remove(1)]
        let isMoved = queue.move(1, to: .low)
        queue.add(1, 11, priority: .low)
        let popped = [queue.popFirst()?.element, queue.popFirst()?.element]
        #expect(removals == [10, nil])
        #expect(!isMoved)
        #expect(popped == [11, nil])
    }
}
