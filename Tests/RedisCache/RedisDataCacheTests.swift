import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoRedisCache

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)), .enabled(if: RedisServer.isInstalled))
struct RedisDataCacheTests {
    private let key = ImageKey(ResourceKey("a"))

    /// The server's own policy limits its size, so that check does not apply to the cache.
    static let checks = (DataCacheConformance.checks + DataCacheConformance.persistenceChecks).filter {
        $0.description != "the size stays within the limit and the newest entry is kept"
    }

    @Test(arguments: checks)
    func `the Redis cache passes each conformance check`(check: DataCacheConformance.Check) async throws {
        let server = try await RedisServer()
        try await check {
            RedisDataCache(
                server.cacheOptions(prefix: "store *[\($0.storage)]:", maximumEntryByteCount: $0.byteLimit))
        }
    }

    @Test func `two caches on one server share entries with one prefix and not with two`() async throws {
        let server = try await RedisServer()
        let (first, second) = (RedisDataCache(server.cacheOptions()), RedisDataCache(server.cacheOptions()))
        let other = RedisDataCache(server.cacheOptions(prefix: "test:*"))
        try await first.store(Data("bytes".utf8), for: key)
        try await other.store(Data("other".utf8), for: key)

        #expect(await second.data(for: key) == Data("bytes".utf8))
        await other.removeAll()
        #expect(await second.data(for: key) == Data("bytes".utf8))
        #expect(await other.count == 0)
        #expect(await second.count == 1)
    }

    @Test func `removing everything keeps the entries of a cache with a longer prefix`() async throws {
        let server = try await RedisServer()
        let (short, long) = (
            RedisDataCache(server.cacheOptions(prefix: "a:")), RedisDataCache(server.cacheOptions(prefix: "a:thumbs:"))
        )
        for cache in [short, long] { try await cache.store(Data("bytes".utf8), for: key) }

        await short.removeAll()

        #expect(await short.count == 0)
        #expect(await long.data(for: key) == Data("bytes".utf8))
        #expect(await long.removeAll(of: key.resource) == 1)
    }

    @Test(arguments: ["p:e:", "p:v:", "p:e:e:"])
    func `a cache whose prefix contains a name kind of another is separate`(prefix: String) async throws {
        let server = try await RedisServer()
        let (short, long) = (
            RedisDataCache(server.cacheOptions(prefix: "p:")), RedisDataCache(server.cacheOptions(prefix: prefix))
        )
        for cache in [short, long] { try await cache.store(Data("bytes".utf8), for: key) }

        #expect(await short.count == 1)
        #expect(await short.totalSize == "p:e:".utf8.count + 64 + 36 + 5)
        await short.removeAll()

        #expect(await short.count == 0)
        #expect(await long.count == 1)
        #expect(await long.data(for: key) == Data("bytes".utf8))
        // Its record exists, too.
        #expect(await long.removeAll(of: key.resource) == 1)
    }

    @Test func `an entry expires on the server`() async throws {
        let server = try await RedisServer()
        let clock = ManualClock()
        let cache = RedisDataCache(server.cacheOptions(), clock: clock)
        let expiry = clock.now.addingTimeInterval(60)
        try await cache.store(CachedData(Data("bytes".utf8), expiry: expiry), for: key)
        let stored = try RedisConnection(server.cacheOptions()).execute([
            ["PTTL", "test:e:\(key.fileName)"].map { Data($0.utf8) }
        ])
        #expect((1...60_000).contains(stored.first?.number ?? 0))
        #expect(await cache.entry(for: key)?.expiry != nil)

        clock.advance(by: .seconds(60))

        #expect(await cache.entry(for: key) == nil)
    }

    @Test func `a damaged or foreign value is a miss and is removed`() async throws {
        let server = try await RedisServer()
        let cache = RedisDataCache(server.cacheOptions())
        let whole = RedisEntry.encode(
            CachedData(Data((0..<200).map { UInt8($0) }), metadata: Data("notes".utf8)), for: key,
            at: Timestamp(milliseconds: 0))
        var damaged: [Data] = [Data(), Data("hello".utf8), whole.dropLast(), whole + [0]]
        for index in whole.indices {
            var copy = whole
            copy[index] ^= 0x10
            damaged.append(copy)
        }
        #expect(RedisEntry.decode(whole, for: key) != nil)
        for value in damaged { #expect(RedisEntry.decode(value, for: key) == nil) }

        let name = Data("test:e:\(key.fileName)".utf8)
        _ = try RedisConnection(server.cacheOptions()).execute([[Data("SET".utf8), name, damaged[9]]])
        #expect(await cache.entry(for: key) == nil)
        #expect(await cache.contains(key) == false)
        #expect(cache.statistics.damagedEntries == 1)
        // Another type of value.
        _ = try RedisConnection(server.cacheOptions()).execute([[Data("LPUSH".utf8), name, Data("x".utf8)]])
        #expect(await cache.entry(for: key) == nil)
        #expect(await cache.removeAll(of: key.resource) == 0)
    }

    @Test func `a value that is moved to another key is a miss and is removed`() async throws {
        let server = try await RedisServer()
        let cache = RedisDataCache(server.cacheOptions())
        let keys = [key, ImageKey(key.resource, variant: "small"), ImageKey(ResourceKey("b"))]
        for (number, key) in keys.enumerated() {
            try await cache.store(CachedData(Data("bytes \(number)".utf8), metadata: Data("notes".utf8)), for: key)
        }
        let connection = try RedisConnection(server.cacheOptions())
        let names = keys.map { Data("test:e:\($0.fileName)".utf8) }
        let values = try connection.execute(names.map { [Data("GET".utf8), $0] }).compactMap(\.bytes)
        try #require(values.count == 3)

        _ = try connection.execute((0..<3).map { [Data("SET".utf8), names[$0], values[($0 + 1) % 3]] })

        for key in keys {
            #expect(await cache.entry(for: key) == nil)
            #expect(await !cache.contains(key))
        }
        #expect(cache.statistics.damagedEntries == 3)
    }

    @Test func `an entry of the earlier format is a miss`() async throws {
        let server = try await RedisServer()
        // The magic bytes, no expiry, no metadata, the checksum of these, no data.
        var value = Data("ALR1".utf8) + [0, 0, 0, 0, 0, 0, 0, 0x80] + Data(count: 8)
        let checksum = XXH64.hash(value.bytes)
        withUnsafeBytes(of: checksum.littleEndian) { value.append(contentsOf: $0) }
        let name = Data("test:e:\(key.fileName)".utf8)
        _ = try RedisConnection(server.cacheOptions()).execute([[Data("SET".utf8), name, value]])

        #expect(await RedisDataCache(server.cacheOptions()).entry(for: key) == nil)
    }

    @Test func `an entry stored by a clock a year ahead is a miss after the clock is corrected`() async throws {
        let server = try await RedisServer()
        let clock = ManualClock()
        let cache = RedisDataCache(server.cacheOptions(), clock: clock)
        let start = clock.now
        clock.setDate(start + 365 * 24 * 60 * 60)
        try await cache.store(CachedData(Data("ahead".utf8), expiry: clock.now + 60), for: key)
        #expect(await cache.data(for: key) == Data("ahead".utf8))

        clock.setDate(start)
        #expect(await cache.entry(for: key) == nil)
        try await cache.store(CachedData(Data("now".utf8), expiry: clock.now + 60), for: key)
        #expect(await cache.data(for: key) == Data("now".utf8))
        clock.setDate(start + 365 * 24 * 60 * 60)
        #expect(await cache.entry(for: key) == nil)
    }

    @Test func `late replies on some connections delay neither their calls nor others`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.url.appending(path: "s").path
        let (reads, isOpen) = (Watched(0), Watched(false))
        let server = try FakeServer(path: path) { _ in
            // Every tenth reply is held until the end of the test.
            if reads.update({ count in
                count += 1
                return count % 10 == 0
            }) {
                while !isOpen.value { poll(nil, 0, 1) }
            }
            return ":1\r\n"
        }
        defer { isOpen.update { $0 = true } }
        let cache = RedisDataCache(
            RedisOptions(
                address: .socket(path), maxConcurrentConnections: 2, connectTimeout: .seconds(120),
                responseTimeout: .seconds(5), callTimeout: .seconds(120), maximumFailureCount: 100))
        var foundCount = 0

        for _ in 0..<100 where await cache.contains(key) { foundCount += 1 }

        // On a busy machine, a call may be repeated for another reason, and the repetition may be the one that is held.
        #expect(foundCount > 95)
        #expect(!cache.isServerFailing)
        #expect(server.words(of: "EXISTS").count > 105)
    }

    @Test func `a value over the entry limit is not read in full and stays`() async throws {
        let server = try await RedisServer()
        let (small, large) = (
            RedisDataCache(server.cacheOptions(maximumEntryByteCount: 1_000)), RedisDataCache(server.cacheOptions())
        )
        try await large.store(Data(count: 4 << 20), for: key)
        let connection = try RedisConnection(server.cacheOptions())
        let before = try sentByteCount(connection)

        #expect(await small.entry(for: key) == nil)

        #expect(try sentByteCount(connection) - before < 100_000)
        #expect(small.statistics.misses == 1)
        #expect(small.statistics.damagedEntries == 0)
        #expect(await large.data(for: key)?.count == 4 << 20)
        // Of the maximum size, with its head of 36 bytes.
        try await small.store(Data(count: 1_000 - 36), for: key)
        #expect(await small.data(for: key)?.count == 1_000 - 36)
    }

    /// Returns a server whose user may run all but some commands.
    private func server(rejecting commands: [String]) async throws -> (server: RedisServer, options: RedisOptions) {
        let server = try await RedisServer(
            ["--user", "someone", "on", ">secret", "~*", "&*", "+@all"] + commands.map { "-\($0)" })
        var options = server.cacheOptions()
        (options.username, options.password) = ("someone", "secret")
        return (server, options)
    }

    @Test(arguments: [false, true])
    func `a server without scripts stores entries with their records`(isRenamed: Bool) async throws {
        let (server, options): (RedisServer, RedisOptions)
        if isRenamed {
            server = try await RedisServer(["--rename-command", "EVAL", ""])
            options = server.cacheOptions()
        } else {
            (server, options) = try await self.server(rejecting: ["@scripting"])
        }
        let cache = RedisDataCache(options)

        try await cache.store(Data("bytes".utf8), for: key)

        #expect(await cache.data(for: key) == Data("bytes".utf8))
        #expect(cache.statistics.stores == 1)
        #expect(cache.statistics.failures == 0)
        #expect(await cache.removeAll(of: key.resource) == 1)
        #expect(await cache.count == 0)
        extendLifetime(server)
    }

    @Test(arguments: ["watch", "time", "zrange", "multi", "zremrangebyscore", "zadd", "pexpireat", "set", "exec"])
    func `a server that rejects a part of a store keeps no entry and stays in use`(
        command: String
    ) async throws {
        let (server, options) = try await self.server(rejecting: [command])
        let other = ImageKey(ResourceKey("b"))
        try await RedisDataCache(server.cacheOptions()).store(Data("other".utf8), for: other)
        let cache = RedisDataCache(options)

        try await cache.store(Data("bytes".utf8), for: key)

        #expect(cache.statistics.failures == 1)
        #expect(cache.statistics.stores == 0)
        #expect(await RedisDataCache(server.cacheOptions()).contains(key) == false)
        // A connection still in a transaction would reply `QUEUED`.
        for _ in 0..<5 { #expect(await cache.data(for: other) == Data("other".utf8)) }
        #expect(!cache.isServerFailing)
    }

    @Test(arguments: ["multi", "unlink", "zrem", "exec"])
    func `a server that rejects a part of a removal keeps the entry and its record`(command: String) async throws {
        let (server, options) = try await self.server(rejecting: [command])
        let free = RedisDataCache(server.cacheOptions())
        try await free.store(Data("bytes".utf8), for: key)
        let cache = RedisDataCache(options)

        #expect(await cache.remove(key) == false)
        #expect(await cache.removeAll(of: key.resource) == 0)

        #expect(await cache.data(for: key) == Data("bytes".utf8))
        #expect(await free.removeAll(of: key.resource) == 1)
    }

    @Test func `a transaction that another client disturbs is repeated with the new state`() async throws {
        let server = try await RedisServer()
        let connections = try [0, 1].map { _ in try RedisConnection(server.cacheOptions()) }
        func words(_ text: String) -> [Data] { text.split(separator: " ").map { Data($0.utf8) } }
        var seen: [Int?] = []

        let replies = try connections[0].transact(watching: Data("set".utf8), after: [words("ZCARD set")]) {
            (replies) throws(RedisFailure) in
            seen.append(replies.first?.number)
            if seen.count <= 2 { _ = try connections[1].execute([words("ZADD set 1 \(seen.count)")]) }
            return [words("ZADD set 1 own"), words("ZCARD set")]
        }

        #expect(seen == [0, 1, 2])
        #expect(replies.map(\.number) == [1, 3])
        #expect(!connections[0].isInTransaction)
    }

    private func sentByteCount(_ connection: RedisConnection) throws -> Int {
        let text = try #require(try connection.execute([["INFO", "stats"].map { Data($0.utf8) }]).first?.bytes)
        let line = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline).first {
            $0.hasPrefix("total_net_output_bytes:")
        }
        return try #require(line?.split(separator: ":").last.flatMap { Int($0) })
    }

    @Test func `records of expired entries are removed by the next store, and all with the last entry`() async throws {
        let server = try await RedisServer()
        let clock = ManualClock()
        let cache = RedisDataCache(server.cacheOptions(), clock: clock)
        let records = "test:v:\(key.fileName)"
        let connection = try RedisConnection(server.cacheOptions())
        func number(_ words: [String]) throws -> Int? {
            try connection.execute([words.map { Data($0.utf8) }]).first?.number
        }
        func store(_ variant: String, for seconds: Double?) async throws {
            let expiry = seconds.map { clock.now.addingTimeInterval($0) }
            let key = ImageKey(key.resource, variant: variant)
            try await cache.store(CachedData(Data("bytes".utf8), expiry: expiry), for: key)
        }
        for second in 1...100 { _ = try number(["ZADD", records, "\(second * 1000)", "gone\(second)"]) }

        try await store("a", for: 3_600)

        #expect(try number(["ZCARD", records]) == 1)
        #expect((1...3_660_000).contains(try number(["PTTL", records]) ?? 0))
        try await store("b", for: 36_000)
        try await store("c", for: 60)
        // As long as the longest, whichever was stored last.
        #expect((3_660_001...36_060_000).contains(try number(["PTTL", records]) ?? 0))
        #expect(try number(["ZCARD", records]) == 3)
        try await store("d", for: nil)
        #expect(try number(["PTTL", records]) ?? 0 > 36_060_000)
        #expect(await cache.removeAll(of: key.resource) == 4)
        #expect(try number(["EXISTS", records]) == 0)
    }

    @Test func `a resource with more variants than one command can name is removed`() async throws {
        let server = try await RedisServer()
        let cache = RedisDataCache(server.cacheOptions())
        for number in 0..<1_100 {
            try await cache.store(Data("x".utf8), for: ImageKey(key.resource, variant: "\(number)"))
        }
        #expect(await cache.removeAll(of: key.resource) == 1_100)
        #expect(await cache.count == 0)
    }

    @Test func `an expiry out of range is stored`() async throws {
        let server = try await RedisServer()
        let cache = RedisDataCache(server.cacheOptions())
        let expiry = Date(timeIntervalSince1970: .greatestFiniteMagnitude)
        try await cache.store(CachedData(Data("bytes".utf8), expiry: expiry), for: key)
        #expect(await cache.data(for: key) == Data("bytes".utf8))
    }

    @Test func `an unreachable server is a miss without error and is used again once it returns`() async throws {
        let server = try await RedisServer()
        let clock = ManualClock()
        let cache = RedisDataCache(server.cacheOptions(), clock: clock)
        try await cache.store(Data("bytes".utf8), for: key)
        #expect(await cache.data(for: key) != nil)

        try await server.kill()
        for _ in 0..<5 {
            #expect(await cache.data(for: key) == nil)
            try await cache.store(Data("bytes".utf8), for: key)
        }
        #expect(await cache.count == 0)
        #expect(await cache.remove(key) == false)
        #expect(cache.statistics.failures == 5)
        #expect(cache.isServerFailing)

        try await server.start()
        // Not used for now.
        try await cache.store(Data("bytes".utf8), for: key)
        #expect(cache.statistics.failures == 6)
        clock.advance(by: cache.options.retryDelay)
        try await cache.store(Data("bytes".utf8), for: key)
        #expect(await cache.data(for: key) == Data("bytes".utf8))
        #expect(!cache.isServerFailing)
    }

    @Test func `a connection that closed between two calls fails no call`() async throws {
        let server = try await RedisServer()
        let cache = RedisDataCache(server.cacheOptions())
        try await cache.store(Data("bytes".utf8), for: key)

        try await server.kill()
        try await server.start()

        try await cache.store(Data("again".utf8), for: key)
        #expect(await cache.data(for: key) == Data("again".utf8))
        #expect(cache.statistics.failures == 0)
    }

    @Test func `a full server stores nothing and serves reads`() async throws {
        let server = try await RedisServer(["--maxmemory", "3mb", "--maxmemory-policy", "noeviction"])
        let cache = RedisDataCache(server.cacheOptions())
        try await cache.store(Data("small".utf8), for: key)
        for number in 0..<8 { try await cache.store(Data(count: 1 << 20), for: ImageKey(ResourceKey("\(number)"))) }

        #expect(cache.statistics.failures >= 5)
        #expect(await cache.data(for: key) == Data("small".utf8))
    }

    @Test func `a server that does not reply is awaited for the configured time and then skipped`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.url.appending(path: "s").path
        let listener = try SilentSocket(path: path)
        var options = RedisOptions(
            address: .socket(path), connectTimeout: .seconds(60), responseTimeout: .milliseconds(1))
        options.maximumFailureCount = 2
        let cache = RedisDataCache(options, clock: ManualClock())
        for _ in 0..<50 { #expect(await cache.data(for: key) == nil) }
        // The first two connected, and a socket whose connections are not accepted holds them.
        #expect(cache.statistics.misses == 50)
        #expect(listener.connectionCount() == 2)
    }

    @Test func `a user with a password and a database finds its own entries`() async throws {
        let server = try await RedisServer(["--user", "someone", "on", ">secret", "~*", "&*", "+@all"])
        var options = server.cacheOptions()
        (options.username, options.password, options.database) = ("someone", "secret", 3)
        let cache = RedisDataCache(options)
        try await cache.store(Data("bytes".utf8), for: key)
        #expect(await cache.data(for: key) == Data("bytes".utf8))
        #expect(cache.statistics.failures == 0)
        // A cache without the option uses another database.
        #expect(await RedisDataCache(server.cacheOptions()).data(for: key) == nil)
        options.database = 99
        #expect(await RedisDataCache(options).data(for: key) == nil)
    }

    @Test func `a wrong password is a miss`() async throws {
        let server = try await RedisServer()
        var options = server.cacheOptions()
        options.password = "wrong"
        let cache = RedisDataCache(options)
        try await cache.store(Data("bytes".utf8), for: key)
        #expect(await cache.data(for: key) == nil)
        #expect(cache.statistics.failures == 1)
    }
}
