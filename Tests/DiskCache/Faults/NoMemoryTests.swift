import AlcedoCore
import AlcedoDiskCache
import AlcedoLibc
import FoundationEssentials
import TestSupport
import Testing

/// An entry that cannot be read for lack of memory is not damaged.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct NoMemoryTests {
    enum Work: String, CaseIterable { case reading, mapping, verifying, naming }

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test(arguments: Work.allCases)
        func `an entry for which there is no memory is a miss and stays on disk`(work: Work) async throws {
            await #expect(processExitsWith: .success) { [work = work.rawValue as String] in
                try await Self.exhaust(try #require(Work(rawValue: work)))
            }
        }
    #endif

    private static func exhaust(_ work: Work) async throws {
        let directory = try TemporaryDirectory()
        let cache = FileDiskCache(directory: directory.url)
        let large = Data(repeating: 7, count: 200 << 20)
        try await cache.store(large, for: key("large"))
        try await cache.store(bytes(10), for: key("small"))
        // The threads that the work needs have been started.
        for _ in 0..<4 { _ = await cache.entry(for: key("small")) }
        await cache.verify()

        try Scarcity.limitMemory(beyondNow: 100 << 20)
        switch work {
        case .reading: #expect(await cache.entry(for: key("large")) == nil)
        case .mapping: #expect(await cache.mappedEntry(for: key("large")) == nil)
        case .naming: #expect(await cache.key(named: key("large").fileName) == nil)
        case .verifying:
            let verification = await cache.verify()
            #expect(verification.checkedCount == 1)
            #expect(verification.error?.message.contains("memory") == true)
            #expect(verification.damagedNames.isEmpty)
        }
        #expect(await cache.data(for: key("small")) == bytes(10))
        #expect(cache.statistics.damagedEntries == 0)

        try Scarcity.unlimitMemory()
        #expect(await cache.data(for: key("large"))?.count == large.count)
        #expect(await cache.count == 2)
    }

    @Test func `a file with a length field of a terabyte is damaged`() async throws {
        let directory = try TemporaryDirectory()
        let cache = FileDiskCache(directory: directory.url, sizeLimit: .max)
        for name in ["a", "b"] {
            try await cache.store(bytes(10), for: key(name))
            try #require(truncate(directory.file(name), 1 << 40) == 0)
        }

        #expect(await cache.entry(for: key("a")) == nil)
        #expect(cache.statistics.damagedEntries == 1)
        #expect(await cache.verify().damagedNames == [key("b").fileName])
        #expect(directory.files.isEmpty)
    }
}
