import AlcedoCore
import AlcedoDiskCache
import AlcedoLibc
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// System errors at single operations, which need neither the superuser nor another process.
@Suite(.timeLimit(.minutes(10)))
struct InjectedFaultTests {
    private let directory: TemporaryDirectory
    private let disk = FaultyDisk()
    private let reports = TrimReports()

    init() throws { directory = try TemporaryDirectory() }

    private func cache(
        in url: URL? = nil, durability: Durability = .none, clock: any TimeSource = SystemClock()
    ) -> FileDiskCache {
        FileDiskCache(
            directory: url ?? directory.url, durability: durability, clock: clock,
            onTrim: { [reports] in reports.add($0) }, onFileOperation: { [disk] in disk.fault(in: $0) })
    }

    private func storeError(
        _ cache: FileDiskCache, _ data: Data = bytes(5), for key: ImageKey = key("a")
    ) async -> DataCacheError? {
        await #expect(throws: DataCacheError.self) { try await cache.store(data, for: key) }
    }

    @Test func `a full disk evicts old entries, reports them, and keeps the new one`() async throws {
        // The entries on a disk for ten.
        let count = Locked(0)
        disk.setFaults { operation in
            count.withLock { (count: inout Int) -> DiskFileFault? in
                switch (operation.action, operation.target) {
                case (.write, .temporaryFile): return count >= 10 ? .error(ENOSPC) : nil
                case (.rename, .entry): count += 1
                case (.remove, .entry): count -= 1
                default: break
                }
                return nil
            }
        }
        let cache = cache()
        let names = (0..<40).map { key("\($0)").fileName }
        for number in 0..<40 {
            try await cache.store(bytes(20_000, seed: number), for: key("\(number)"))
            #expect(await cache.data(for: key("\(number)")) == bytes(20_000, seed: number))
        }

        let left = await cache.items().map(\.name)
        #expect(left.count <= 10)
        #expect(left.last == names.last)
        await reports.waitForRemovals(count: names.count - left.count)
        #expect(reports.removals.map(\.name).sorted() == Set(names).subtracting(left).sorted())
        #expect(reports.removals.allSatisfy { $0.evictionReason == .noSpace })
        #expect(directory.unfinished.isEmpty)
    }

    @Test func `an entry that does not fit on the disk throws no space and leaves nothing behind`() async throws {
        let cache = cache()
        try await cache.store(bytes(7), for: key("b"))
        disk.setFaults { $0.action == .write && $0.byteCount > 100_000 ? .error(ENOSPC) : nil }

        #expect(await storeError(cache, bytes(200_000))?.code == .noSpace)

        #expect(await cache.entry(for: key("a")) == nil)
        #expect(directory.unfinished.isEmpty)
        #expect(await cache.count == directory.files.count)
        try await cache.store(bytes(100), for: key("c"))
        #expect(await cache.data(for: key("c")) == bytes(100))
    }

    @Test(arguments: [1, 7, 1000]) func `short reads and writes change no entry`(count: Int) async throws {
        let sizes = [0, 1, 99, 5000] + (count == 1000 ? [300_000] : [])
        disk.setFaults { _ in .shortened(to: count) }
        let cache = cache()
        for size in sizes { try await cache.store(bytes(size), for: key("\(size)")) }
        await cache.flush()
        for reader in [cache, self.cache(), FileDiskCache(directory: directory.url)] {
            for size in sizes {
                #expect(await reader.data(for: key("\(size)")) == bytes(size))
                #expect(await reader.mappedEntry(for: key("\(size)"))?.data == bytes(size))
            }
            let verification = await reader.verify()
            #expect(verification.checkedCount == sizes.count)
            #expect(verification.damagedNames.isEmpty)
            #expect(verification.error == nil)
        }
    }

    @Test func `an entry that cannot be read now is a miss, and stays`() async throws {
        let cache = cache()
        for name in ["a", "b"] { try await cache.store(bytes(100), for: key(name)) }
        let unreadable = String(key("a").fileName.dropFirst(2))
        disk.setFaults { $0.action == .read && $0.name == unreadable ? .error(EIO) : nil }

        #expect(await cache.entry(for: key("a")) == nil)
        #expect(await cache.mappedEntry(for: key("a")) == nil)
        #expect(await cache.chunks(for: key("a")) == nil)
        #expect(await cache.data(for: key("b")) == bytes(100))
        let verification = await cache.verify()
        #expect(verification.checkedCount == 1)
        #expect(verification.damagedNames.isEmpty)
        #expect(verification.error != nil)
        #expect(cache.statistics.damagedEntries == 0)

        disk.repair()
        #expect(await cache.data(for: key("a")) == bytes(100))
        #expect(await cache.count == 2)
    }

    @Test func `a disk that becomes read-only can be read, and reports that it cannot be changed`() async throws {
        let writer = cache()
        for name in ["a", "b"] { try await writer.store(bytes(100), for: key(name)) }
        await writer.flush()
        disk.setFaults { operation in
            switch operation.action {
            case .openForWriting, .write, .rename, .remove, .makeDirectory: .error(EROFS)
            case .open, .read, .synchronize, .list: nil
            }
        }
        for cache in [writer, self.cache()] {
            for name in ["a", "b"] { #expect(await cache.data(for: key(name)) == bytes(100)) }
            #expect(await storeError(cache, for: key("c"))?.code == .notWritable)
            #expect(await !cache.remove(key("a")))
            #expect(await cache.trim(toSize: 0).error?.code == .notWritable)
            await cache.removeAll()
            #expect(await cache.count == 2)
        }
        disk.repair()
        #expect(directory.files.count == 2)
    }

    @Test(arguments: [EIO, EACCES])
    func `an entry whose file cannot be renamed is not stored`(number: Int32) async throws {
        let cache = cache()
        for name in ["a", "b"] { try await cache.store(bytes(100), for: key(name)) }
        disk.setFaults { $0.action == .rename && $0.target == .entry ? .error(number) : nil }

        #expect(await storeError(cache)?.code == (number == EIO ? .failed : .notWritable))
        #expect(await storeError(cache, for: key("c")) != nil)

        disk.repair()
        #expect(await cache.data(for: key("a")) != bytes(5))
        #expect(await cache.entry(for: key("c")) == nil)
        #expect(await cache.data(for: key("b")) == bytes(100))
        #expect(directory.unfinished.isEmpty)
        #expect(await cache.count == directory.files.count)
    }

    @Test func `an entry that does not reach the medium is not stored, and the earlier one stays`() async throws {
        let cache = cache(durability: .entry)
        try await cache.store(bytes(100), for: key("a"))
        disk.setFaults { $0.action == .synchronize ? .error(EIO) : nil }
        #expect(await storeError(cache)?.code == .failed)
        #expect(await cache.data(for: key("a")) == bytes(100))
        #expect(directory.unfinished.isEmpty)
    }

    @Test func `an entry that cannot be removed stays and is counted`() async throws {
        let cache = cache()
        for number in 0..<40 { try await cache.store(bytes(number), for: key("\(number)")) }
        try await cache.store(CachedData(bytes(9), expiry: Date() + 3600), for: key("expiring"))
        let names = ["3", "5", "8"].map { key($0).fileName }
        let kept = Set(names.map { String($0.dropFirst(2)) })
        disk.setFaults { $0.action == .remove && kept.contains($0.name) ? .error(EACCES) : nil }

        #expect(await !cache.remove(key("3")))
        #expect(await cache.contains(key("3")))
        #expect(await cache.removeAll(of: ResourceKey("5")) == 0)
        #expect(await cache.count == 41)
        let report = await cache.trim(toSize: 0)
        #expect(report.removals.count == 38)
        #expect(report.error?.code == .notWritable)
        #expect(await cache.count == 3)
        #expect(await cache.totalSize == directory.fileSizes)
        await cache.removeAll()
        #expect(await cache.items().map(\.name).sorted() == names.sorted())
        #expect(await FileDiskCache(directory: directory.url).count == 3)
        disk.repair()
        await cache.removeAll()
        #expect(await cache.count == 0)
        #expect(directory.files.isEmpty)
    }

    @Test func `a directory that cannot be listed or created is reported`() async throws {
        let cache = cache()
        disk.setFaults { $0.action == .makeDirectory ? .error(EDQUOT) : nil }
        #expect(await storeError(cache)?.code == .noSpace)
        disk.repair()
        try await cache.store(bytes(100), for: key("a"))
        await cache.flush()
        try FileManager.default.removeItem(at: directory.url.appending(path: "index"))
        disk.setFaults { $0.action == .list ? .error(EMFILE) : nil }
        let blind = self.cache()
        #expect(await blind.listingError()?.code == .failed)
        #expect(await blind.data(for: key("a")) == bytes(100))
        disk.repair()
        #expect(await blind.count == 1)
    }

    @Test func `a directory that may not be used is reported, and one that does not exist is not`() async throws {
        let url = directory.url.appending(path: "cache")
        #expect(await cache(in: url).listingError() == nil)
        try await cache(in: url).store(bytes(100), for: key("a"))
        disk.setFaults { _ in .error(EACCES) }
        let cache = cache(in: url)

        let error = try #require(await cache.listingError())
        #expect(error.code == .notWritable)
        #expect(error.message.contains("Permission denied"))
        #expect(await cache.trim(toSize: 0).error == error)
        #expect(await cache.verify().error == error)
        #expect(await !cache.remove(key("a")))
        #expect(await cache.entry(for: key("a")) == nil)

        disk.repair()
        #expect(await cache.listingError() == nil)
        #expect(await cache.data(for: key("a")) == bytes(100))
        #expect(await cache.count == 1)
    }

    @Test func `entries that cannot be listed for a merge keep their order of use`() async throws {
        let (other, clock) = (try TemporaryDirectory(), ManualClock())
        let source = FileDiskCache(directory: other.url, clock: clock)
        for name in ["a", "b"] {
            try await source.store(bytes(100), for: key(name))
            clock.advance(by: .seconds(1))
        }
        _ = await source.entry(for: key("a"))
        await source.flush()
        // The directories of entries have two digits.
        disk.setFaults { $0.action == .list && $0.name.utf8.count == 2 ? .error(EACCES) : nil }

        let cache = cache(clock: clock)
        #expect(await cache.adoptEntries(of: other.url) == 0)

        let items = await FileDiskCache(directory: other.url, clock: clock).items()
        #expect(items.map(\.name) == ["b", "a"].map { key($0).fileName })
        disk.repair()
        #expect(await cache.adoptEntries(of: other.url) == 2)
    }

    @Test(arguments: [Durability.none, .entry, .directory])
    func `a new directory of an entry is durable only with the cache's directory`(durability: Durability) async throws {
        let opens = Locked(0)
        disk.setFaults { operation in
            guard operation.action == .open, operation.name == "." else { return nil }
            // The entry's directory is opened first, and then that of the cache.
            return opens.withLock { count -> DiskFileFault? in
                count += 1
                return count == 2 ? .error(EACCES) : nil
            }
        }
        let cache = cache(durability: durability)
        if durability == .directory {
            #expect(await storeError(cache)?.code == .notWritable)
            #expect(await cache.entry(for: key("a")) == nil)
            #expect(directory.files.isEmpty)
        } else {
            try await cache.store(bytes(5), for: key("a"))
            #expect(await cache.data(for: key("a")) == bytes(5))
        }
        #expect(opens.withLock { $0 } == (durability == .directory ? 2 : 0))
    }

    @Test func `operations name the files of entries, the index, temporary files and directories`() async throws {
        let seen = Locked<Set<String>>([])
        disk.setFaults { operation in
            seen.withLock { _ = $0.insert("\(operation.action) \(operation.target)") }
            return nil
        }
        let cache = cache(durability: .directory)
        try await cache.store(bytes(100), for: key("a"))
        _ = await cache.entry(for: key("a"))
        await cache.remove(key("a"))
        await cache.flush()
        let expected = [
            "openForWriting temporaryFile", "write temporaryFile", "synchronize temporaryFile", "rename entry",
            "rename index", "openForWriting index", "read index", "write index", "synchronize directory", "read entry",
            "remove entry", "makeDirectory directory", "list directory", "open directory",
        ]
        #expect(seen.withLock { Set(expected).subtracting($0) }.isEmpty)
    }
}
