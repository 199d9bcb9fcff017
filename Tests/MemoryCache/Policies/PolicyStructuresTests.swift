@testable import AlcedoMemoryCache
import TestSupport
import Testing

/// The data structures of the policies, compared with plain lists.
@Suite struct PolicyStructuresTests {
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `a monotone queue returns the values of a sorted list`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = MonotoneQueue()
        var list: [(slot: Int, number: UInt64, order: Int)] = []
        var order = 0

        for _ in 0..<5000 {
            let slot = Int.random(in: 0..<80, using: &random)
            if let index = list.firstIndex(where: { $0.slot == slot }) {
                queue.remove(slot)
                list.remove(at: index)
            } else {
                let bits = UInt64.random(in: 0..<40, using: &random)
                let value = UInt64.random(in: 0...(1 << bits), using: &random)
                let number = queue.floor + value
                queue.insert(slot, aboveFloor: value)
                list.append((slot, number, order))
                order += 1
            }
            if Bool.random(using: &random) {
                let least = list.min { ($0.number, $0.order) < ($1.number, $1.order) }
                #expect(queue.least() == least?.slot)
                if let least {
                    #expect(queue.floor == least.number)
                    #expect(queue.number(of: least.slot) == least.number)
                }
            }
            #expect(queue.count == list.count)
        }
    }

    @Test func `a monotone queue's numbers do not overflow`() {
        var queue = MonotoneQueue()
        for round in 0..<40 {
            queue.insert(0, aboveFloor: 1 << 62)
            queue.insert(1, aboveFloor: 1 << 61)
            #expect(queue.least() == 1, "round \(round)")
            queue.remove(1)
            #expect(queue.least() == 0)
            queue.remove(0)
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `an index finds what a dictionary finds, also with colliding hashes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let kinds = seed == 1 ? 5 : 1000
        let hashes = (0..<300).map { _ in Int.random(in: 0..<kinds, using: &random) }
        var index = HashIndex()
        var present: Set<Int> = []

        for _ in 0..<8000 {
            let slot = Int.random(in: 0..<300, using: &random)
            if present.remove(slot) != nil {
                index.remove(slot, hash: hashes[slot])
            } else {
                present.insert(slot)
                index.insert(slot, hash: hashes[slot])
            }
            let other = Int.random(in: 0..<300, using: &random)
            #expect(index.slot(hashes[other]) { $0 == other } == (present.contains(other) ? other : nil))
            #expect(index.count == present.count)
        }
    }

    @Test func `ghosts are forgotten in the order in which they were added`() {
        var ghosts = GhostList()
        for hash in 0..<10 as Range<UInt64> {
            ghosts.remember(.ghost(hash, frequency: UInt8(hash)), limit: 5)
        }
        #expect(ghosts.count == 5)
        #expect(ghosts.take(4) == nil)
        #expect(ghosts.take(5)?.frequency == 5)
        #expect(ghosts.take(5) == nil)
        ghosts.remember(.ghost(20), limit: 0)
        #expect(ghosts.count == 0)
    }
}
