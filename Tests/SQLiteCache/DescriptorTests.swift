import AlcedoCore
import AlcedoSQLiteCache
import FoundationEssentials
import TestSupport
import Testing

/// Without available file descriptors or memory a process cannot read entries that are intact.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct DescriptorTests {
    enum Work: String, CaseIterable { case reading, verifying, sweeping }

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test(arguments: Work.allCases)
        func `no entry is lost while no file descriptors are available`(work: Work) async throws {
            await #expect(processExitsWith: .success) { [work = work.rawValue as String] in
                try await Self.exhaustDescriptors(try #require(Work(rawValue: work)))
            }
        }
    #endif

    private static func exhaustDescriptors(_ work: Work) async throws {
        try Scarcity.limitDescriptors(to: 200)
        let directory = try TemporaryDirectory()
        let cache = SQLiteDiskCache(directory: directory.url)
        for number in 0..<5 { try await cache.store(bytes(number * 20_000), for: key("\(number)")) }
        await cache.flush()
        for number in 0..<5 { try #require(await cache.data(for: key("\(number)")) != nil) }
        for spare in 0..<12 {
            try await Scarcity.withDescriptors(spare) {
                switch work {
                case .reading: for number in 0..<5 { _ = await cache.data(for: key("\(number)")) }
                case .verifying: try #require(await cache.verify().damagedNames.isEmpty)
                case .sweeping: _ = await cache.trim()
                }
            }
        }

        for reader in [cache, SQLiteDiskCache(directory: directory.url)] {
            for number in 0..<5 { #expect(await reader.data(for: key("\(number)")) == bytes(number * 20_000)) }
            #expect(await reader.count == 5)
            #expect(reader.statistics.damagedEntries == 0)
        }
    }

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test(arguments: [true, false])
        func `an entry for which there is no memory is a miss and stays on disk`(isVerifying: Bool) async throws {
            await #expect(processExitsWith: .success) { [isVerifying] in
                let directory = try TemporaryDirectory()
                let cache = SQLiteDiskCache(directory: directory.url)
                try await cache.store(Data(repeating: 7, count: 200 << 20), for: key("large"))
                try await cache.store(bytes(10), for: key("small"))
                await cache.verify()
                for _ in 0..<4 { _ = await cache.entry(for: key("small")) }

                try Scarcity.limitMemory(beyondNow: 100 << 20)
                if isVerifying {
                    try #require(await cache.verify().damagedNames.isEmpty)
                } else {
                    try #require(await cache.entry(for: key("large")) == nil)
                }
                try #require(cache.statistics.damagedEntries == 0)
                try Scarcity.unlimitMemory()
                try #require(await cache.data(for: key("large"))?.count == 200 << 20)
            }
        }
    #endif
}
