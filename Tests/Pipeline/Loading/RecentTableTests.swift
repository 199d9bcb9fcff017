import AlcedoCore
import FoundationEssentials
import Testing

@testable import AlcedoPipeline

@Suite struct RecentTableTests {
    @Test(arguments: [1, 2, 7]) func `a full table evicts the oldest entry`(limit: Int) {
        var table = RecentTable<Int, String>(limit: limit)
        for number in 0..<50 {
            table.set("\(number)", for: number)
            // A new value does not renew the others.
            table.set("\(number)!", for: number)
            for other in 0...number { #expect(table[other] == (other > number - limit ? "\(other)!" : nil)) }
        }
    }

    @Test func `a table has a capacity of at least one`() {
        var table = RecentTable<Int, Int>(limit: 0)
        table.set(1, for: 1)
        #expect(table[1] == 1)
    }

    @Test func `larger sizes of an image are found, the smallest first`() throws {
        let sizes = StoredSizes()
        let resource = ResourceKey(try #require(URL(string: "https://example.org/a")))
        func target(_ side: Int) -> TargetSize { TargetSize(width: side, height: side, mode: .fit) }
        func key(_ side: Int) -> ImageKey { ImageKey(resource, variant: "\(side)") }
        let full = ImageKey(resource)
        for side in [40, 10, 30, 20] { sizes.record(key(side), target(side), of: full) }
        #expect(sizes.keys(of: full, atLeast: target(15)) == [20, 30, 40].map(key))
        #expect(sizes.keys(of: full, atLeast: target(41)).isEmpty)
        #expect(sizes.keys(of: key(10), atLeast: target(1)).isEmpty)
        let filling = TargetSize(width: 5, height: 5, mode: .fill)
        #expect(sizes.keys(of: full, atLeast: filling).isEmpty)

        // The table holds the last eight.
        for side in 50..<56 { sizes.record(key(side), target(side), of: full) }
        #expect(sizes.keys(of: full, atLeast: target(1)) == [20, 30, 50, 51, 52, 53, 54, 55].map(key))
    }
}
