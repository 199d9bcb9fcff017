import FoundationEssentials
import Testing

@testable import AlcedoDiskCache

@Suite struct EntryIndexTests {
    private func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

    @Test func `what a reader saw before a store does not undo the store`() {
        var index = EntryIndex()
        index.store("a", size: 5000, at: date(1))
        let seen = index.changeCount

        index.store("a", size: 10, at: date(2))
        index.read("a", size: 5000, at: date(3), changeCount: seen)

        #expect(index.totalSize == 10)
        // The use itself counts.
        index.store("b", size: 10, at: date(2.5))
        #expect(index.leastRecentlyUsed(toReach: 10, keeping: nil) == ["b"])
    }

    @Test func `what a reader saw before a removal does not come back`() {
        var index = EntryIndex()
        index.store("a", size: 10, at: date(1))
        let beforeRemoval = index.changeCount
        index.remove("a")
        index.read("a", size: 10, at: date(2), changeCount: beforeRemoval)
        #expect(index.totalSize == 0 && !index.contains("a"))

        index.store("b", size: 10, at: date(1))
        let beforeAll = index.changeCount
        index.removeAll()
        index.read("b", size: 10, at: date(2), changeCount: beforeAll)
        #expect(index.totalSize == 0 && !index.contains("b"))
    }

    @Test func `what a reader finds that others stored is counted`() {
        var index = EntryIndex()
        index.read("a", size: 10, at: date(1), changeCount: index.changeCount)
        #expect(index.totalSize == 10)
        index.read("a", size: 30, at: date(2), changeCount: index.changeCount)
        #expect(index.totalSize == 30)
    }

    @Test func `a use in the past does not make an entry older`() {
        var index = EntryIndex()
        let seen = index.changeCount
        index.store("a", size: 10, at: date(5))
        index.store("b", size: 10, at: date(3))
        index.read("a", size: 10, at: date(1), changeCount: seen)
        #expect(index.leastRecentlyUsed(toReach: 10, keeping: nil) == ["b"])
    }

    @Test func `the oldest go until the rest fits, apart from the one to keep`() {
        var index = EntryIndex()
        for (name, time) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] as [(String, Double)] {
            index.store(name, size: 10, at: date(time))
        }
        #expect(index.leastRecentlyUsed(toReach: 40, keeping: nil).isEmpty)
        #expect(index.leastRecentlyUsed(toReach: 25, keeping: nil) == ["a", "b"])
        #expect(index.leastRecentlyUsed(toReach: 25, keeping: "a") == ["b", "c"])
        #expect(index.leastRecentlyUsed(toReach: 0, keeping: "d") == ["a", "b", "c"])
    }

    @Test func `a listing adds what is not known, and leaves the rest`() {
        var index = EntryIndex()
        index.store("a", size: 10, at: date(9))
        index.merge([.init(name: "a", size: 99, lastUse: date(1)), .init(name: "b", size: 5, lastUse: date(2))])
        #expect(index.totalSize == 15)
        #expect(index.isLoaded)
        #expect(index.leastRecentlyUsed(toReach: 10, keeping: nil) == ["b"])
    }
}
