import AlcedoCore
import AlcedoLibc
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoSQLiteCache

@Suite(.timeLimit(.minutes(10)))
struct FailureTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test(arguments: ["file/below", "file", "file/../file/x"])
    func `a directory that cannot be created is not writable, and reading it is a miss`(path: String) async throws {
        try Data("x".utf8).write(to: directory.url.appending(path: "file"))
        let url = try #require(URL(string: directory.url.absoluteString + "/" + path))

        try await expectNotWritable(SQLiteDiskCache(directory: url))
    }

    @Test func `a path below a regular file is not writable`() async throws {
        let url = try #require(URL(string: "http://127.0.0.1/cache"))

        try await expectNotWritable(SQLiteDiskCache(directory: url))
    }

    @Test(arguments: ["-wal", "-shm"], [true, false])
    func `an entry stored after a file beside the database was removed is found`(suffix: String, isReplaced: Bool)
        async throws
    {
        let cache = SQLiteDiskCache(directory: directory.url)
        for number in 0..<10 { try await cache.store(bytes(100), for: key("\(number)")) }
        #expect(await cache.data(for: key("0")) == bytes(100))
        let path = directory.database.path + suffix
        #expect(unlink(path) == 0)
        if isReplaced { #expect(mkdir(path, 0o700) == 0) }

        for number in 0..<10 {
            try await cache.store(bytes(50), for: key("\(number)"))
            #expect(await cache.data(for: key("\(number)")) == bytes(50))
        }
        #expect(await SQLiteDiskCache(directory: directory.url).data(for: key("9")) == bytes(50))
    }

    @Test(arguments: ["", "-wal", "-shm", ".lock"])
    func `a directory in the place of a file is replaced with its contents and counted`(suffix: String)
        async throws
    {
        let outside = try TemporaryDirectory()
        try Data("precious".utf8).write(to: outside.url.appending(path: "letter"))
        let location = directory.database.path + suffix
        try FileManager.default.createDirectory(
            atPath: location + String(repeating: "/deep", count: 30), withIntermediateDirectories: true)
        #expect(symlink(outside.path, location + "/link") == 0)
        let cache = SQLiteDiskCache(directory: directory.url)

        #expect(await cache.entry(for: key("a")) == nil)
        try await cache.store(bytes(10), for: key("a"))

        #expect(await cache.data(for: key("a")) == bytes(10))
        #expect(cache.statistics.damagedEntries == (suffix == ".lock" ? 0 : 1))
        #expect(FileManager.default.contents(atPath: outside.path + "/letter") == Data("precious".utf8))
    }

    @Test func `a damaged file is counted`() async throws {
        try Data("no database".utf8).write(to: directory.database)
        let cache = SQLiteDiskCache(directory: directory.url)
        try await cache.store(bytes(10), for: key("a"))
        #expect(cache.statistics.damagedEntries == 1)
    }

    @Test(arguments: [(Durability.none, Int64(1)), (.entry, 2), (.directory, 2)])
    func `an entry of any durability level is found, and the log is synchronized accordingly`(
        durability: Durability, level: Int64
    ) async throws {
        let cache = SQLiteDiskCache(directory: directory.url, durability: durability)
        for count in [10, 50_000] {
            try await cache.store(bytes(count), for: key("\(count)"))
            #expect(await cache.data(for: key("\(count)")) == bytes(count))
        }
        let found = try await cache.storage.change { changes in
            try changes.connection.firstRow("PRAGMA synchronous") { $0.integer(0) }
        }
        #expect(found == level)
    }

    @Test func `a full disk refuses the new entry and keeps the old ones`() throws {
        let connection = try Connection(path: directory.database.path, busyTimeout: 0)
        let changes = try EntryTable(connection, values: ValueDirectory(directory: directory.url))
        let totals = try changes.store(
            CachedData(Data(count: 10_000)), for: key("a"), recency: 1, at: Timestamp(milliseconds: 0), limit: .max)
        try connection.execute("PRAGMA max_page_count = 24")

        let failure = #expect(throws: SQLiteFailure.self) {
            for number in 0..<10 {
                _ = try changes.store(
                    CachedData(Data(count: 30_000)), for: key("\(number)"), recency: 2,
                    at: Timestamp(milliseconds: 0), limit: .max)
            }
        }

        #expect(failure?.cacheError.code == .noSpace)
        #expect(try changes.row(named: key("a").fileName)?.data == Data(count: 10_000))
        #expect(try changes.row(named: key("9").fileName) == nil)
        #expect(try changes.totals().size >= totals.size)
    }

    @Test func `a removed directory is created again`() async throws {
        let cache = SQLiteDiskCache(directory: directory.url)
        try await cache.store(Data(count: 5), for: key("a"))
        try FileManager.default.removeItem(at: directory.url)

        #expect(await cache.data(for: key("a")) == nil)
        try await cache.store(Data(count: 6), for: key("a"))

        #expect(await SQLiteDiskCache(directory: directory.url).data(for: key("a")) == Data(count: 6))
    }

    @Test func `a file that another process replaced is opened again`() async throws {
        let old = SQLiteDiskCache(directory: directory.url)
        try await old.store(Data("old".utf8), for: key("a"))
        try directory.removeDatabase()
        let new = SQLiteDiskCache(directory: directory.url)
        try await new.store(Data("new".utf8), for: key("b"))

        try await old.store(Data("more".utf8), for: key("c"))

        #expect(await old.data(for: key("a")) == nil)
        #expect(await old.data(for: key("b")) == Data("new".utf8))
        #expect(await new.data(for: key("c")) == Data("more".utf8))
    }

    @Test func `closing a replaced file leaves the new one intact`() throws {
        var old = DatabaseFile.writer(directory.url)
        try old.store(CachedData(Data("old".utf8)), for: key("a"))
        try directory.removeDatabase()
        var new = DatabaseFile.writer(directory.url)
        try new.store(CachedData(Data("new".utf8)), for: key("b"))

        old.close()

        var third = DatabaseFile.writer(directory.url)
        #expect(try third.data(for: key("b")) == Data("new".utf8))
        #expect(try new.data(for: key("b")) == Data("new".utf8))
    }

    @Test func `a damaged file that another process has already replaced is not removed`() throws {
        var file = DatabaseFile.writer(directory.url)
        var other = DatabaseFile.writer(directory.url)
        var isFirst = true

        let found = try file.perform(makesFile: true) { table in
            guard isFirst else { return try table.row(named: key("b").fileName)?.data }
            isFirst = false
            try directory.removeDatabase()
            try other.store(CachedData(Data("b".utf8)), for: key("b"))
            throw SQLiteFailure(.damaged, "damaged")
        }

        #expect(found == Data("b".utf8))
    }

    @Test func `the files of a killed process contain every entry`() async throws {
        let cache = SQLiteDiskCache(directory: directory.url)
        for index in 0..<10 { try await cache.store(Data("\(index)".utf8), for: key("\(index)")) }
        // The file and its log while the cache is open.
        let copy = try TemporaryDirectory()
        try FileManager.default.copyItem(at: directory.database, to: copy.database)
        try FileManager.default.copyItem(at: directory.log, to: copy.log)

        let next = SQLiteDiskCache(directory: copy.url)

        for index in 0..<10 { #expect(await next.data(for: key("\(index)")) == Data("\(index)".utf8)) }
        withExtendedLifetime(cache) {}
    }

    @Test func `a failed transaction changes nothing`() throws {
        let connection = try Connection(path: directory.database.path, busyTimeout: 0)
        try connection.execute("CREATE TABLE t (a)")

        #expect(throws: SQLiteFailure.self) {
            try connection.transaction { () throws(SQLiteFailure) in
                try connection.execute("INSERT INTO t VALUES (1)")
                try connection.execute("INSERT INTO nothing VALUES (1)")
            }
        }

        #expect(try connection.firstRow("SELECT count(*) FROM t") { $0.integer(0) } == 0)
        #expect(try connection.transaction { 5 } == 5)
    }

    @Test(arguments: [
        (ENOSPC, DataCacheError.Code.noSpace), (EDQUOT, .noSpace), (EACCES, .notWritable), (EROFS, .notWritable),
        (ENOTDIR, .notWritable), (EIO, .failed),
    ])
    func `the system's errors are mapped to error codes`(systemError: Int32, code: DataCacheError.Code) {
        #expect(SQLiteFailure(systemError: systemError, doing: "work").cacheError.code == code)
    }

    // 10 IOERR, 13 FULL, 14 CANTOPEN, 8 READONLY, 18 TOOBIG, 11 CORRUPT, 5 BUSY; 778 is IOERR_WRITE.
    @Test(arguments: [
        (13, 0, DataCacheError.Code.noSpace), (778, ENOSPC, .noSpace), (14, 0, .notWritable),
        (14, EACCES, .notWritable),
        (8, 0, .notWritable), (18, 0, .tooLarge), (11, 0, .failed), (5, 0, .failed), (10, 0, .failed),
    ])
    func `SQLite's errors are mapped to error codes`(status: Int32, systemError: Int32, code: DataCacheError.Code) {
        #expect(SQLiteFailure(status: status, systemError: systemError, message: "").cacheError.code == code)
    }

    @Test func `a link in the place of the file is removed, and its target stays unchanged`() async throws {
        let directory = try TemporaryDirectory()
        let precious = directory.path + "/precious"
        try Data("precious".utf8).write(to: URL(filePath: precious))
        for suffix in ["", "-wal"] {
            let cache = SQLiteDiskCache(directory: directory.url.appending(path: "cache\(suffix)"))
            try FileManager.default.createDirectory(at: cache.directory, withIntermediateDirectories: true)
            #expect(symlink(precious, cache.directory.path + "/alcedo.sqlite" + suffix) == 0)

            #expect(await cache.entry(for: key("a")) == nil)
            try await cache.store(bytes(10), for: key("a"))

            #expect(await cache.data(for: key("a")) == bytes(10))
            #expect(FileManager.default.contents(atPath: precious) == Data("precious".utf8))
        }
    }

    @Test func `an infinite lock timeout does not crash`() async throws {
        let directory = try TemporaryDirectory()
        let cache = SQLiteDiskCache(directory: directory.url, lockTimeout: .seconds(Int64.max))
        try await cache.store(bytes(10), for: key("a"))
        #expect(await cache.data(for: key("a")) == bytes(10))
    }

    private func expectNotWritable(_ cache: SQLiteDiskCache) async throws {
        #expect(await cache.entry(for: key("a")) == nil)
        #expect(await cache.totalSize == 0)
        let error = await #expect(throws: DataCacheError.self) { try await cache.store(Data(count: 5), for: key("a")) }
        #expect(error?.code == .notWritable)
        #expect(error?.message.isEmpty == false)
    }
}
