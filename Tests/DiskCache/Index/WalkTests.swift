import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// Iterations over all entries that do not delay readers.
@Suite(.timeLimit(.minutes(10)))
struct WalkTests {
    private let directory: TemporaryDirectory
    private let store: EntryStore
    private let clock = ManualClock()

    init() throws {
        directory = try TemporaryDirectory()
        let paths = try #require(EntryPaths(directory.url, pathExtension: nil))
        store = EntryStore(
            paths, limits: DataCacheLimits(), durability: .none, lockTimeout: .seconds(300), clock: clock)
    }

    private func name(_ number: Int) -> EntryName { EntryName(key("\(number)")) }

    private func entry(_ number: Int, use: Int64) -> IndexEntry {
        let now = Timestamp(clock.now)
        return IndexEntry(
            name: name(number), resourceHash: 0, file: FileSize(length: 100, occupied: block), storedAt: now,
            lastUse: now, expiry: nil, useNumber: use)
    }

    /// Adds entries without files.
    private func fill(_ numbers: Range<Int>) throws {
        try store.index.change { change throws(DataCacheError) in
            try change.append(numbers.map { .entry(entry($0, use: Int64($0 * 7919 % 100_003))) })
        }
    }

    private func remove(_ names: [EntryName]) throws {
        try store.index.change { change throws(DataCacheError) in change.recordRemovals(names) }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a walk visits every entry that stays, whatever is added and removed meanwhile`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let count = 5 * DiskIndex.sliceCount + 17
        try fill(0..<count)
        let limits = store.limits
        var left = Set(0..<count)
        var met: Set<EntryName> = []
        var added = count
        var sliceCount = 0
        store.index.forEachSlice { slice in
            sliceCount += 1
            #expect(slice.count <= DiskIndex.sliceCount)
            met.formUnion(slice.map(\.name))
            // The lock is free. Otherwise this would not return.
            _ = store.index.use(name(7), at: store.now, limits: limits)
            let gone = (0..<300).compactMap { _ in left.randomElement(using: &random) }
            left.subtract(gone)
            do {
                try remove(gone.map(name))
                try fill(added..<added + 100)
            } catch {
                Issue.record(error)
            }
            added += 100
        }
        #expect(sliceCount >= 6)
        #expect(met.isSuperset(of: left.map(name)))
    }

    @Test func `a copy of the index table has the same entries`() throws {
        try fill(0..<3000)
        let copy = store.index.copy()
        let table = store.index.read { $0 }
        #expect(copy.count == 3000)
        #expect(copy.totalSize == table.totalSize)
        for number in 0..<3000 {
            #expect(
                copy.position(of: name(number)).map { copy[$0] } == table.position(of: name(number)).map { table[$0] })
        }
    }

    @Test(arguments: [1, 10, 99, 100, 101, 250])
    func `the oldest entries are those that a full sort puts first`(count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        let entries = (0..<250).map { entry($0, use: .random(in: 0..<10_000, using: &random)) }
        var oldest = OldestEntries(count: count)
        for entry in entries { oldest.add(entry) }
        let expected = entries.sorted { $0.isUsedBefore($1) }.prefix(count).map(\.useNumber)
        #expect(oldest.takeAll().reversed().map(\.use).prefix(count) == expected[...])
        #expect(oldest.takeAll().isEmpty)
    }

    @Test func `a trim removes all entries although they are used repeatedly`() throws {
        try fill(0..<5)
        var trim = EntryTrim(toSize: .max, count: 2, reason: .trimmed)
        var steps = 0
        repeat {
            for number in 0..<5 { _ = store.index.use(name(number), at: store.now, limits: store.limits) }
            steps += 1
        } while !store.advance(&trim) && steps < 100
        #expect(store.index.read(\.count) == 2)
        #expect(steps < 10)
    }

    @Test func `a trim in several steps removes the oldest entries`() throws {
        let count = 40 * DiskIndex.sliceCount
        try fill(0..<count)
        let sorted = store.index.read(\.entries).sorted { $0.isUsedBefore($1) }.map(\.name.text)
        var trim = EntryTrim(toSize: .max, count: count - 100, reason: .trimmed)
        var steps = 1
        while !store.advance(&trim) { steps += 1 }
        #expect(trim.report.removals.map(\.name) == sorted.prefix(100).map { $0 })
        // Two to read, four to remove, one to find the end.
        #expect(steps == 7)
    }
}
