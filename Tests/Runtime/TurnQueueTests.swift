import TestSupport
import Testing

@testable import AlcedoRuntime

@Suite struct TurnQueueTests {
    /// Returns a queue of waiters named after their group and number, of one priority, with the numbers from 0.
    private func queue(groupLimit: Int = .max, _ names: String...) -> TurnQueue<String> {
        var queue = TurnQueue<String>(groupLimit: groupLimit)
        for (id, name) in names.enumerated() { queue.add(id, name, priority: 0, group: String(name.prefix(1))) }
        return queue
    }

    @Test(arguments: [1, 2, 3]) func `a queue without groups has the order of a queue of waiters`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = TurnQueue<Int>()
        var model = WaiterQueue<Int>()
        for step in 0..<3_000 {
            let priority = Int.random(in: -2...2, using: &generator)
            let known = Int.random(in: 0...step, using: &generator)
            switch Int.random(in: 0..<8, using: &generator) {
            case 0..<4:
                let atHead = Bool.random(using: &generator)
                queue.add(step, step, priority: priority, atHead: atHead)
                model.add(step, step, priority: priority, atHead: atHead)
            case 4:
                let (isMoved, expected) = (queue.move(known, to: priority), model.move(known, to: priority))
                #expect(isMoved == expected)
            case 5:
                let (removed, expected) = (queue.remove(known), model.remove(known))
                #expect(removed == expected)
            case 6:
                let isBefore = queue.hasWaiter(before: priority, group: nil)
                let expected = model.first().map { $0.priority >= priority } ?? false
                #expect(isBefore == expected)
            default:
                let (first, popped, expected) = (queue.first(), queue.popFirst(), model.popFirst()?.element)
                #expect(first == expected)
                #expect(popped == expected)
            }
            #expect(queue.count == model.count)
        }
    }

    @Test func `groups take turns, and each has the order of its arrivals`() {
        var queue = queue("a1", "a2", "a3", "b1", "b2", "c1")
        var order: [String] = []
        while let next = queue.popFirst() {
            order.append(next)
            queue.end(String(next.prefix(1)))
        }
        #expect(order == ["a1", "b1", "c1", "a2", "b2", "a3"])
        #expect(queue.count == 0)
    }

    @Test func `a group with running work goes after those that have none, and not after lower priorities`() {
        var queue = queue("a1", "a2")
        let first = queue.popFirst()
        queue.add(2, "alone", priority: 0)
        queue.add(3, "low", priority: -1)
        queue.add(4, "b1", priority: 0, group: "b")
        let others = [queue.popFirst(), queue.popFirst(), queue.popFirst(), queue.popFirst(), queue.popFirst()]
        #expect(first == "a1")
        #expect(others == ["alone", "b1", "a2", "low", nil])
    }

    @Test func `work that has not waited counts for its group`() {
        var queue = TurnQueue<String>()
        queue.begin("a")
        queue.add(1, "a1", priority: 0, group: "a")
        let isBefore = (queue.hasWaiter(before: 0, group: "a"), queue.hasWaiter(before: 0, group: "b"))
        #expect(isBefore == (true, false))

        queue.end("a")
        let isBeforeNow = queue.hasWaiter(before: 0, group: "b")
        #expect(isBeforeNow)
    }

    @Test func `a group at its limit keeps its waiters until its work ends`() {
        var queue = queue(groupLimit: 2, "a1", "a2", "a3", "a4", "b1")
        let begun = [queue.popFirst(), queue.popFirst(), queue.popFirst(), queue.popFirst()]
        #expect(begun == ["a1", "b1", "a2", nil])
        #expect(queue.count == 2)

        let removed = queue.remove(2)
        let isMoved = queue.move(3, to: 1)
        let blocked = queue.popFirst()
        queue.end("a")
        let next = [queue.popFirst(), queue.popFirst()]
        #expect(removed == "a3")
        #expect(isMoved)
        #expect(blocked == nil)
        #expect(next == ["a4", nil])
    }

    @Test func `groups with running work that are skipped keep their turn`() {
        var queue = queue("a1", "a2", "b1")
        queue.begin("b")
        let first = queue.popFirst(skipsRunningGroups: true)
        let none = queue.popFirst(skipsRunningGroups: true)
        queue.add(3, "low", priority: -1)
        let alone = queue.popFirst(skipsRunningGroups: true)
        #expect(first == "a1")
        #expect(none == nil)
        #expect(alone == "low")
        #expect(queue.count == 2)

        let others = [queue.popFirst(), queue.popFirst(), queue.popFirst()]
        #expect(others == ["b1", "a2", nil])
    }

    @Test func `a group whose waiters were removed has no turn, and no advantage when it returns`() {
        var queue = queue("a1", "a2", "b1", "b2")
        let removed = [queue.remove(0), queue.remove(1), queue.remove(1)]
        queue.add(4, "a3", priority: 0, group: "a")
        let order = [queue.popFirst(), queue.popFirst(), queue.popFirst(), queue.popFirst()]
        #expect(removed == ["a1", "a2", nil])
        #expect(order == ["b1", "a3", "b2", nil])
    }

    @Test(arguments: [1, 2, 3]) func `every waiter has its turn once, and no group exceeds its limit`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = TurnQueue<(id: Int, group: Int)>(groupLimit: 2)
        var waiting: Set<Int> = []
        var running: [Int] = []
        for step in 0..<3_000 {
            let group = Int.random(in: 0..<5, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0, 1:
                let priority = Int.random(in: 0...1, using: &generator)
                queue.add(step, (step, group), priority: priority, group: "\(group)")
                waiting.insert(step)
            case 2:
                guard let id = waiting.randomElement(using: &generator) else { continue }
                waiting.remove(id)
                let removed = queue.remove(id)
                #expect(removed?.id == id)
            case 3:
                guard let id = waiting.randomElement(using: &generator) else { continue }
                let isMoved = queue.move(id, to: Int.random(in: 0...1, using: &generator))
                #expect(isMoved)
            case 4:
                guard let ended = running.indices.randomElement(using: &generator) else { continue }
                queue.end("\(running.remove(at: ended))")
            default:
                guard let next = queue.popFirst() else { continue }
                let wasWaiting = waiting.remove(next.id) != nil
                running.append(next.group)
                #expect(wasWaiting)
                #expect(running.count { $0 == next.group } <= 2)
            }
            #expect(queue.count == waiting.count)
        }
        while !waiting.isEmpty {
            if let next = queue.popFirst() {
                waiting.remove(next.id)
                running.append(next.group)
            } else if let group = running.popLast() {
                queue.end("\(group)")
            } else {
                Issue.record("waiters without a turn: \(waiting)")
                break
            }
        }
    }
}
