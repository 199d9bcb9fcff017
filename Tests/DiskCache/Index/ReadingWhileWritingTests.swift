import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// Rebuilding an index while other tasks look for entries.
@Suite(.timeLimit(.minutes(10)))
struct ReadingWhileWritingTests {
    private let directory: TemporaryDirectory
    private let names = (0..<1500).map { "\($0)" }

    init() async throws {
        directory = try TemporaryDirectory()
        let cache = FileDiskCache(directory: directory.url)
        for name in names { try await cache.store(Data([1]), for: key(name)) }
        await cache.flush()
    }

    @Test func `a table that is being written is not reloaded`() throws {
        var state = IndexState(suffixHash: XXH64.hash("".utf8Span.span.bytes))
        state.refresh(directory.path)
        let file = try #require(state.file)
        var table = state.table
        let gone = EntryName(key("7"))
        table.remove(gone)
        table.put(
            IndexEntry(
                name: EntryName(key("new")), resourceHash: 0, file: FileSize(length: 100, occupied: block),
                storedAt: Timestamp(milliseconds: 0), lastUse: Timestamp(milliseconds: 0), expiry: nil, useNumber: 1))

        state.replace(table)
        state.refresh(directory.path)

        #expect(state.file == nil)
        #expect(state.table.position(of: gone) == nil)
        #expect(state.table.position(of: EntryName(key("new"))) != nil)

        state.abandon()
        state.refresh(directory.path)

        #expect(state.file?.header?.generation == file.header?.generation)
        #expect(state.table.position(of: gone) != nil)
    }

    @Test func `a store succeeds while another task lists the entries`() async throws {
        let store = try #require(FileDiskCache(directory: directory.url).engine).store
        let (looks, isOver) = (Watched(0), Watched(false))
        // A blocking call on its own thread.
        async let looking: Void = BlockingExecutor(name: "looking", maxConcurrent: 1).run {
            while !isOver.value {
                if !store.contains(key("nothing")) { looks.update { $0 += 1 } }
            }
        }
        defer { isOver.update { $0 = true } }
        try await looks.waitUntil { $0 > 0 }
        for round in 0..<10 {
            try FileManager.default.removeItem(at: directory.url.appending(path: "index"))
            try store.store(CachedData(Data([2])), for: key("round \(round)"))
            #expect(store.index.totals.count == names.count + round + 1)
        }
        isOver.update { $0 = true }
        try await looking
    }
}
