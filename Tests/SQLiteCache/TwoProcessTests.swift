import AlcedoCore
import AlcedoLibc
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoSQLiteCache

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct TwoProcessTests {
    private static let limits = DataCacheLimits(sizeLimit: 600_000)

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test func `two processes on one directory see no damage, and the limits hold`() async throws {
            let directory = try TemporaryDirectory()
            let path = directory.path

            async let other: Void = {
                await #expect(processExitsWith: .success) { [path = path as String] in
                    try await Self.work(in: path, seed: 1)
                }
            }()
            try await Self.work(in: path, seed: 2)
            await other

            let cache = SQLiteDiskCache(directory: directory.url, limits: Self.limits)
            let verification = await cache.verify()
            await cache.flush()
            #expect(verification.damagedNames.isEmpty)
            #expect(verification.checkedCount > 0)
            #expect(await cache.totalSize <= Self.limits.sizeLimit)
            #expect(await cache.items().reduce(0) { $0 + $1.size } == cache.totalSize)
            var largeCount = 0
            for name in 0..<40 {
                let count = await cache.data(for: key("\(name)"))?.count ?? 0
                if count > EntryTable.maximumInlineByteCount { largeCount += 1 }
            }
            #expect(directory.valueFiles.count == largeCount)
        }
    #endif

    /// Stores, reads and removes entries that contain their names.
    private static func work(in path: String, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let cache = SQLiteDiskCache(directory: URL(filePath: path), limits: limits)
        for step in 0..<TestLength.rounds(400, full: 10_000) {
            let name = Int.random(in: 0..<40, using: &random)
            switch step % 8 {
            case 0..<3:
                let count = Bool.random(using: &random) ? 2_000 : 40_000
                let entry = CachedData(bytes(count, seed: step), metadata: Data("\(step)".utf8))
                try await cache.store(entry, for: key("\(name)"))
                guard let found = await cache.entry(for: key("\(name)")) else { continue }
                try check(found)
            case 7:
                await cache.remove(key("\(name)"))
            default:
                if let found = await cache.entry(for: key("\(name)")) { try check(found) }
            }
        }
        await cache.flush()
        guard cache.statistics.damagedEntries == 0 else { throw Trouble.damaged }
    }

    private static func check(_ found: CachedData) throws {
        let step = Int(String(decoding: found.metadata, as: UTF8.self)) ?? -1
        guard found.data == bytes(found.data.count, seed: step) else { throw Trouble.damaged }
    }

    private enum Trouble: Error { case damaged }
}
