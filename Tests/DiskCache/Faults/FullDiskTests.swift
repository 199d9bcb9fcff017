import AlcedoCore
import AlcedoLibc
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

@Suite(.timeLimit(.minutes(10)))
struct FullDiskTests {
    @Test(.enabled(if: SmallDisk.isPermitted, "only the superuser may make a small file system"))
    func `a full disk evicts old entries and keeps the new one`() async throws {
        let disk = try #require(try SmallDisk())
        let cache = FileDiskCache(directory: disk.url)
        for number in 0..<40 { try await cache.store(bytes(20_000), for: key("\(number)")) }

        #expect(await cache.data(for: key("39")) == bytes(20_000))
        #expect(await cache.totalSize <= 256 << 10)
        #expect(disk.files.count >= 4)
    }

    @Test(.enabled(if: SmallDisk.isPermitted, "only the superuser may make a small file system"))
    func `entries evicted on a full disk are reported once each`() async throws {
        let disk = try #require(try SmallDisk())
        let reports = TrimReports()
        let cache = FileDiskCache(directory: disk.url, onTrim: { reports.add($0) })
        let names = (0..<40).map { key("\($0)").fileName }
        for number in 0..<40 { try await cache.store(bytes(20_000), for: key("\(number)")) }

        let left = await cache.items().map(\.name)
        await reports.waitForRemovals(count: names.count - left.count)

        #expect(!reports.all.isEmpty)
        #expect(reports.removals.map(\.name).sorted() == Set(names).subtracting(left).sorted())
        #expect(reports.removals.allSatisfy { $0.evictionReason == .noSpace && $0.size > 20_000 })
        #expect(cache.statistics.evictionCount == names.count - left.count)
    }

    @Test(.enabled(if: SmallDisk.isPermitted, "only the superuser may make a small file system"))
    func `an entry that does not fit on the disk throws an error and leaves nothing behind`() async throws {
        let disk = try #require(try SmallDisk())
        let cache = FileDiskCache(directory: disk.url)
        try await cache.store(bytes(1000), for: key("a"))
        let error = await #expect(throws: DataCacheError.self) {
            try await cache.store(bytes(400_000), for: key("large"))
        }

        #expect(error?.code == .noSpace)
        #expect(await cache.data(for: key("large")) == nil)
        try await cache.store(bytes(1000), for: key("b"))
        #expect(await cache.data(for: key("b")) == bytes(1000))
        #expect(!disk.files.isEmpty)
        #expect(disk.files.allSatisfy { !$0.contains("unfinished") })
    }

    @Test(.enabled(if: SmallDisk.isPermitted, "only the superuser may make a small file system"))
    func `an index without space on the disk evicts entries`() async throws {
        let disk = try #require(try SmallDisk())
        let cache = FileDiskCache(directory: disk.url)
        // Each takes a page, and the index one more from time to time.
        for number in 0..<300 {
            try await cache.store(bytes(number % 50), for: key("\(number)"))
            #expect(await cache.data(for: key("\(number)")) == bytes(number % 50), "\(number)")
        }
        await cache.flush()
        #expect(await cache.count == disk.files.count)
        let reopened = FileDiskCache(directory: disk.url)
        #expect(await reopened.count == disk.files.count)
        for number in 0..<300 {
            let found = await reopened.data(for: key("\(number)"))
            #expect(found == nil || found == bytes(number % 50), "\(number)")
        }
    }

    @Test(.enabled(if: SmallDisk.isPermitted, "only the superuser may make a small file system"))
    func `a full disk without an index can be read and emptied`() async throws {
        let disk = try #require(try SmallDisk())
        var names: [String] = []
        do {
            let cache = FileDiskCache(directory: disk.url)
            for number in 0..<30 { try await cache.store(bytes(100), for: key("\(number)")) }
            await cache.flush()
            names = await cache.items().map(\.name)
        }
        #expect(unlink(disk.path + "/index") == 0)
        disk.fill()
        let cache = FileDiskCache(directory: disk.url)

        // Without an index the entries are read from the files.
        #expect(await cache.data(for: key("29")) == bytes(100))
        let count = await cache.count
        #expect(count > 0)
        #expect(count <= names.count)
        try await cache.store(bytes(200), for: key("0"))
        #expect(await cache.data(for: key("0")) == bytes(200))
        await cache.removeAll()
        #expect(await cache.count == 0)
        #expect(disk.files.isEmpty)
    }

    @Test(.enabled(if: SmallDisk.isPermitted, "only the superuser may make a small file system"))
    func `entries removed to make space for the index are counted and reported once each`() async throws {
        let disk = try #require(try SmallDisk())
        let names = (0..<30).map { key("\($0)").fileName }
        do {
            let cache = FileDiskCache(directory: disk.url)
            for number in 0..<30 { try await cache.store(bytes(100), for: key("\(number)")) }
            await cache.flush()
        }
        // Unlike a removal, this frees the page even while the first cache still has the file open.
        #expect(truncate(disk.path + "/index", 0) == 0)
        disk.fill()
        let reports = TrimReports()
        let cache = FileDiskCache(directory: disk.url, onTrim: { reports.add($0) })

        let left = await cache.items().map(\.name)

        try #require(!left.isEmpty)
        try #require(left.count < names.count)
        try #require(cache.statistics.evictionCount == names.count - left.count)
        await reports.waitForRemovals(count: names.count - left.count)
        #expect(reports.removals.map(\.name).sorted() == Set(names).subtracting(left).sorted())
        #expect(reports.removals.allSatisfy { $0.evictionReason == .noSpace && $0.size == block })
    }

    @Test(.enabled(if: SmallDisk.isPermitted, "only the superuser may make a small file system"))
    func `an index that cannot be rewritten stays in use`() async throws {
        let disk = try #require(try SmallDisk(kibibytes: 2048))
        let cache = FileDiskCache(directory: disk.url)
        for number in 0..<20 { try await cache.store(bytes(100), for: key("\(number)")) }
        await cache.flush()
        let index = try #require(cache.engine).store.index
        let entry = try #require(index.read(\.entries.first))
        try index.change { change throws(DataCacheError) in
            try change.append(Array(repeating: .entry(entry), count: 8192))
        }
        let generation = try IndexBytes(disk.url).header.generation
        // All but the page that the records need.
        disk.fill()
        for number in 0..<20 { _ = await cache.remove(key("\(number)")) }

        #expect(await cache.count == 0)
        _ = unlink(disk.path + "/ballast")
        for number in 0..<20 { try await cache.store(bytes(100), for: key("\(number)")) }
        for number in 0..<20 { #expect(await cache.data(for: key("\(number)")) == bytes(100)) }
        #expect(try IndexBytes(disk.url).header.generation != generation)
        #expect(await FileDiskCache(directory: disk.url).count == 20)
    }

    @Test(.spawnsProcesses) func `a file size limit is reported as no space`() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            guard ResourceLimit.fileSize.set(soft: 10_000, hard: 10_000) else { exit(2) }
            let directory = try TemporaryDirectory()
            let cache = FileDiskCache(directory: directory.url)
            try await cache.store(bytes(5000), for: key("small"))
            do {
                try await cache.store(bytes(50_000), for: key("large"))
                exit(3)
            } catch let error as DataCacheError {
                guard error.code == .noSpace else { exit(4) }
            }
            guard await cache.data(for: key("large")) == nil else { exit(5) }
            guard directory.files.allSatisfy({ !$0.contains("unfinished") }) else { exit(6) }
            withExtendedLifetime(directory) {}
        }
    }
}
