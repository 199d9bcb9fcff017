import AlcedoCore
import AlcedoSQLiteCache
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ExpiryTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()

    init() throws { directory = try TemporaryDirectory() }

    private func make(
        _ limits: DataCacheLimits = DataCacheLimits(), onTrim: (@Sendable (DataCacheTrimReport) -> Void)? = nil
    ) -> SQLiteDiskCache {
        SQLiteDiskCache(directory: directory.url, limits: limits, clock: clock, onTrim: onTrim)
    }

    @Test func `an entry is found until its expiry, to the millisecond, and then removed`() async throws {
        let cache = make()
        let expiry = clock.now.addingTimeInterval(10.5)
        try await cache.store(CachedData(bytes(10), expiry: expiry), for: key("a"))
        // Otherwise the search for expired entries when the file is opened may find it expired.
        await cache.flush()

        clock.advance(by: .milliseconds(10_499))
        #expect(await cache.contains(key("a")))
        #expect(await cache.entry(for: key("a")) == CachedData(bytes(10), expiry: expiry))
        clock.advance(by: .milliseconds(1))

        #expect(await !cache.contains(key("a")))
        #expect(await cache.items().isEmpty)
        #expect(await cache.key(named: key("a").fileName) == nil)
        #expect(await cache.count == 1)
        #expect(await cache.entry(for: key("a")) == nil)
        #expect(await cache.count == 0)
        #expect(await cache.totalSize == 0)
    }

    @Test func `an entry expired at its store is not stored and removes the previous one`() async throws {
        let cache = make()
        try await cache.store(bytes(10), for: key("a"))

        try await cache.store(CachedData(bytes(20), expiry: clock.now), for: key("a"))

        #expect(await cache.count == 0)
    }

    @Test func `age counts from the last use`() async throws {
        let cache = make(DataCacheLimits(maximumAge: .seconds(100)))
        for name in ["a", "b"] { try await cache.store(bytes(10), for: key(name)) }
        clock.advance(by: .seconds(60))
        _ = await cache.entry(for: key("a"))
        clock.advance(by: .seconds(60))

        #expect(await cache.contains(key("a")))
        #expect(await !cache.contains(key("b")))
        #expect(await cache.data(for: key("a")) == bytes(10))
        #expect(await cache.data(for: key("b")) == nil)
    }

    @Test func `a use that was written keeps the entry from expiring in the next cache`() async throws {
        let cache = make(DataCacheLimits(maximumAge: .seconds(100)))
        for name in ["a", "b"] { try await cache.store(bytes(10), for: key(name)) }
        clock.advance(by: .seconds(60))
        _ = await cache.entry(for: key("a"))
        await cache.flush()
        clock.advance(by: .seconds(60))

        let next = make(DataCacheLimits(maximumAge: .seconds(100)))
        #expect(await next.data(for: key("a")) == bytes(10))
        #expect(await next.data(for: key("b")) == nil)
    }

    @Test func `age counts from storing where this is enabled`() async throws {
        let cache = make(DataCacheLimits(maximumAge: .seconds(100), ageBasis: .storing))
        try await cache.store(bytes(10), for: key("a"))
        clock.advance(by: .seconds(60))
        _ = await cache.entry(for: key("a"))
        await cache.flush()
        clock.advance(by: .seconds(40))

        #expect(await cache.entry(for: key("a")) == nil)
    }

    @Test func `an entry with its own expiry may exceed the maximum age`() async throws {
        let cache = make(DataCacheLimits(maximumAge: .seconds(100)))
        let expiry = clock.now.addingTimeInterval(1_000)
        try await cache.store(CachedData(bytes(10), expiry: expiry), for: key("a"))
        clock.advance(by: .seconds(900))

        #expect(await cache.entry(for: key("a"))?.expiry == expiry)
    }

    @Test(arguments: [true, false])
    func `a use extends the expiry where this is enabled`(isWritten: Bool) async throws {
        let cache = make(DataCacheLimits(extendsExpiryOnUse: true))
        try await cache.store(CachedData(bytes(10), expiry: clock.now.addingTimeInterval(100)), for: key("a"))
        clock.advance(by: .seconds(60))
        #expect(await cache.entry(for: key("a"))?.expiry == clock.now.addingTimeInterval(100))
        if isWritten { await cache.flush() }
        clock.advance(by: .seconds(99))

        #expect(await cache.items().first?.expiry == clock.now.addingTimeInterval(1))
        #expect(await cache.entry(for: key("a"))?.expiry == clock.now.addingTimeInterval(100))
        clock.advance(by: .seconds(100))
        #expect(await cache.entry(for: key("a")) == nil)
    }

    @Test func `cleaning removes expired entries and reports them`() async throws {
        let reports = Watched<[DataCacheTrimReport]>([])
        let cache = make(DataCacheLimits(maximumAge: .seconds(100))) { report in reports.update { $0.append(report) } }
        let soon = clock.now.addingTimeInterval(1)
        for number in 0..<600 {
            try await cache.store(CachedData(bytes(10), expiry: soon), for: key("soon \(number)"))
        }
        try await cache.store(bytes(10), for: key("old"))
        await cache.flush()
        clock.advance(by: .seconds(50))
        try await cache.store(bytes(10), for: key("new"))
        clock.advance(by: .seconds(50))

        let report = await cache.trim()

        #expect(report.removals.count == 601)
        #expect(report.removals.allSatisfy { $0.evictionReason == .expired && $0.size > 10 })
        #expect(report.removals.contains { $0.name == key("old").fileName })
        #expect(await cache.items().map(\.name) == [key("new").fileName])
        #expect(await cache.count == 1)
        #expect(cache.statistics.evictionCount == 601)
        #expect(reports.value == [report])
        #expect(await cache.trim().removals.isEmpty)
        #expect(reports.value.count == 1)
    }

    @Test func `a cache in use removes expired entries without a request`() async throws {
        let reports = Watched<[DataCacheTrimReport]>([])
        var cache: SQLiteDiskCache? = make { report in reports.update { $0.append(report) } }
        try await cache?.store(CachedData(bytes(10), expiry: clock.now.addingTimeInterval(900)), for: key("a"))
        try await cache?.store(bytes(10), for: key("b"))
        await cache?.flush()

        // Nothing else happens than waiting.
        for _ in 0..<2 {
            #expect(reports.value.isEmpty)
            try await clock.waitForSleepers(count: 1)
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .seconds(600))
        }
        try await reports.waitUntil { !$0.isEmpty }

        #expect(reports.value.flatMap(\.removals).map(\.name) == [key("a").fileName])
        #expect(await cache?.count == 1)
        #expect(cache?.statistics.evictionCount == 1)

        try await clock.waitForSleepers(count: 1)
        cache = nil
        try await eventually { clock.sleeperCount == 0 }
    }

    @Test func `a clock set back a little removes nothing and keeps the order`() async throws {
        let cache = make(DataCacheLimits(maximumAge: .seconds(100), extendsExpiryOnUse: true))
        let expiry = clock.now.addingTimeInterval(100)
        try await cache.store(CachedData(bytes(10), expiry: expiry), for: key("a"))
        try await cache.store(bytes(10), for: key("b"))
        clock.setDate(clock.now.addingTimeInterval(-90))

        try await cache.store(bytes(10), for: key("c"))
        #expect(await cache.entry(for: key("a"))?.expiry == expiry)
        #expect(await cache.data(for: key("b")) != nil)

        #expect(await cache.items().map(\.name) == ["c", "a", "b"].map { key($0).fileName })
    }

    @Test func `a clock set back beyond the maximum age and forward again expires nothing`() async throws {
        let cache = make(DataCacheLimits(maximumAge: .seconds(100), extendsExpiryOnUse: true))
        let start = clock.now
        let expiry = start.addingTimeInterval(250)
        for name in ["a", "b"] { try await cache.store(bytes(10), for: key(name)) }
        try await cache.store(CachedData(bytes(10), expiry: expiry), for: key("c"))
        clock.setDate(start.addingTimeInterval(-200))

        #expect(await cache.data(for: key("a")) != nil)
        #expect(await cache.entry(for: key("c"))?.expiry == expiry)
        #expect(await cache.trim().removals.isEmpty)
        await cache.flush()

        clock.setDate(start.addingTimeInterval(10))
        #expect(await cache.trim().removals.isEmpty)
        for name in ["a", "b"] { #expect(await cache.data(for: key(name)) != nil, "\(name)") }
        #expect(await cache.entry(for: key("c"))?.expiry == expiry.addingTimeInterval(10))
    }

    @Test(arguments: [false, true])
    func `an entry stored by a clock a year ahead does not outlive its expiry by a year`(isTrimmed: Bool) async throws {
        let cache = make()
        let start = clock.now
        clock.setDate(start + 365 * 24 * 60 * 60)
        try await cache.store(CachedData(bytes(10), expiry: clock.now + 3_600), for: key("ahead"))
        await cache.flush()
        #expect(await cache.data(for: key("ahead")) != nil)
        clock.setDate(start)
        try await cache.store(CachedData(bytes(10), expiry: start + 3_600), for: key("now"))

        if isTrimmed {
            #expect(await cache.trim().removals.map(\.name) == [key("ahead").fileName])
        } else {
            #expect(await !cache.contains(key("ahead")))
            #expect(await cache.items().map(\.name) == [key("now").fileName])
            #expect(await cache.data(for: key("ahead")) == nil)
        }
        #expect(await cache.data(for: key("now")) != nil)
        #expect(await cache.count == 1)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300])
    func `an expiry out of range does not crash`(seconds: Double) async throws {
        let cache = make(DataCacheLimits(extendsExpiryOnUse: true))

        try await cache.store(
            CachedData(bytes(10), expiry: Date(timeIntervalSinceReferenceDate: seconds)), for: key("a"))

        #expect(await cache.contains(key("a")) == !(seconds < 0))
        clock.advance(by: .seconds(10))
        #expect((await cache.data(for: key("a")) != nil) == !(seconds < 0))
    }

    @Test(arguments: [Duration.zero, .seconds(-5), .seconds(Int64.min), .seconds(Int64.max)])
    func `a maximum age out of range does not crash`(age: Duration) async throws {
        let cache = make(DataCacheLimits(maximumAge: age))

        try await cache.store(bytes(10), for: key("a"))
        _ = await cache.trim()

        #expect(await cache.contains(key("a")) == (age > .zero))
    }
}
