import AlcedoCore
import AlcedoLibc
import AlcedoSQLiteCache
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FullDiskTests {
    private static func disk() throws -> SmallDisk? { try SmallDisk(kibibytes: 8 << 10, detaches: false) }

    @Test(
        .enabled(if: SmallDisk.isPermitted, "only the superuser may make a small file system"),
        arguments: [4_000, 100_000])
    func `a full disk evicts old entries and keeps the new one`(count: Int) async throws {
        let disk = try #require(try Self.disk())
        let reports = Watched<[DataCacheTrimReport]>([])
        let cache = SQLiteDiskCache(directory: disk.url) { report in reports.update { $0.append(report) } }

        for number in 0..<(12_000_000 / count) {
            let content = Data(repeating: UInt8(truncatingIfNeeded: number), count: count)
            try await cache.store(content, for: key("\(number)"))
            #expect(await cache.data(for: key("\(number)")) == content)
        }

        #expect(await cache.totalSize <= 8 << 20)
        #expect(await cache.totalSize >= 400_000)
        #expect(!reports.value.isEmpty)
        #expect(reports.value.allSatisfy { $0.removals.allSatisfy { $0.evictionReason == .noSpace } })
        #expect(await cache.verify().damagedNames.isEmpty)
        withExtendedLifetime(disk) {}
    }

    @Test(.enabled(if: SmallDisk.isPermitted, "only the superuser may make a small file system"))
    func `an entry that does not fit on the disk throws an error and leaves nothing behind`() async throws {
        let disk = try #require(try Self.disk())
        let cache = SQLiteDiskCache(directory: disk.url)
        try await cache.store(bytes(1_000), for: key("a"))

        let error = await #expect(throws: DataCacheError.self) {
            try await cache.store(bytes(9_000_000), for: key("large"))
        }

        #expect(error?.code == .noSpace)
        #expect(await cache.data(for: key("large")) == nil)
        #expect(TemporaryDirectory.valueFiles(in: disk.path).isEmpty)
        try await cache.store(bytes(1_000), for: key("b"))
        #expect(await cache.data(for: key("b")) == bytes(1_000))
        withExtendedLifetime(disk) {}
    }

    @Test(.spawnsProcesses) func `a file size limit is reported as no space`() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            guard ResourceLimit.fileSize.set(soft: 500_000, hard: 500_000) else { exit(2) }
            let directory = try TemporaryDirectory()
            let cache = SQLiteDiskCache(directory: directory.url)
            try await cache.store(bytes(5_000), for: key("small"))
            do {
                try await cache.store(bytes(600_000), for: key("large"))
                exit(3)
            } catch let error as DataCacheError {
                guard error.code == .noSpace else { exit(4) }
            }
            guard await cache.data(for: key("large")) == nil else { exit(5) }
            guard directory.valueFiles.isEmpty else { exit(6) }
            try await cache.store(bytes(5_000), for: key("again"))
            guard await cache.data(for: key("again")) == bytes(5_000) else { exit(7) }
        }
    }
}
