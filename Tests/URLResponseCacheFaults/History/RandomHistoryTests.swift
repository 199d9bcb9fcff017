import AlcedoCore
import AlcedoDiskCache
import AlcedoMemoryCache
import AlcedoSQLiteCache
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

@Suite(.timeLimit(.minutes(10)))
struct RandomHistoryTests {
    enum Storage: CaseIterable, Sendable { case memory, data, tiers, files, database }

    static let roles: [CacheRole] = [.private, .shared(), .shared(targets: ["Test-Cache-Control"])]

    @Test(arguments: Storage.allCases, roles)
    func `in random histories every reuse is permitted, and fresh responses are reused`(
        storage: Storage, role: CacheRole
    ) async throws {
        let isOnDisk = storage == .files || storage == .database
        // With full tests, many histories.
        let first = UInt64((Storage.allCases.firstIndex(of: storage) ?? 0) * 100)
        var tally = HistoryRun.Tally()
        for seed in first...(first + UInt64(TestLength.rounds(0, full: 20))) {
            let directory = try TemporaryDirectory()
            var run = try HistoryRun(role: role, seed: seed, makeStore: Self.stores(storage, directory))

            try await run.play(steps: isOnDisk ? 700 : 2_500)
            tally += run.tally
        }

        // Each event must occur many times, or the histories prove nothing.
        #expect(tally.demanded > 20, "\(tally)")
        #expect(tally.fresh > 20, "\(tally)")
        #expect(tally.stale > 5, "\(tally)")
        #expect(tally.revalidated > 20, "\(tally)")
        #expect(tally.new > 100, "\(tally)")
        #expect(tally.unsatisfiable > 5, "\(tally)")
    }

    private static func stores(
        _ storage: Storage, _ directory: TemporaryDirectory
    ) -> @Sendable (_ isFirst: Bool) -> (any ResponseStoring)? {
        let data = DataMemoryCache(sizeLimit: 64 << 20)
        switch storage {
        case .memory: return { isFirst in isFirst ? MemoryResponseStore() : nil }
        case .data: return { _ in DataResponseStore(data) }
        case .tiers:
            return { _ in TieredResponseStore(MemoryResponseStore(byteLimit: 8_000), over: DataResponseStore(data)) }
        case .files:
            return { _ in
                DataResponseStore(FileDiskCache(directory: directory.url, lockTimeout: .seconds(300)))
            }
        case .database:
            return { _ in
                DataResponseStore(SQLiteDiskCache(directory: directory.url, lockTimeout: .seconds(300)))
            }
        }
    }
}
