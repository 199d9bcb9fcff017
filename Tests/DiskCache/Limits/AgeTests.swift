import AlcedoCore
import AlcedoDiskCache
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct AgeTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()
    private let reports = TrimReports()

    init() throws { directory = try TemporaryDirectory() }

    private func cache(_ limits: DataCacheLimits = DataCacheLimits()) -> FileDiskCache {
        FileDiskCache(directory: directory.url, limits: limits, clock: clock, onTrim: { [reports] in reports.add($0) })
    }

    private func isFound(_ name: String, in cache: FileDiskCache) async -> Bool {
        await cache.entry(for: key(name)) != nil
    }

    @Test func `the default maximum age is seven days since the last use`() async throws {
        let cache = cache()
        try await cache.store(bytes(10), for: key("a"))
        try await cache.store(bytes(10), for: key("b"))
        let day = Duration.seconds(24 * 60 * 60)
        clock.advance(by: day * 7 - .milliseconds(1))
        #expect(await isFound("a", in: cache))
        clock.advance(by: .milliseconds(1))

        #expect(await !isFound("b", in: cache))

        clock.advance(by: day * 7 - .milliseconds(2))
        #expect(await isFound("a", in: cache))
        // A lookup does not count as a use.
        clock.advance(by: day * 7 - .milliseconds(1))
        #expect(await cache.contains(key("a")))
        clock.advance(by: .milliseconds(1))
        #expect(await !cache.contains(key("a")))
        #expect(await !isFound("a", in: cache))
    }

    @Test func `an age since storing is not extended by use`() async throws {
        let cache = cache(DataCacheLimits(maximumAge: .seconds(100), ageBasis: .storing))
        try await cache.store(bytes(10), for: key("a"))
        clock.advance(by: .milliseconds(99_999))
        #expect(await isFound("a", in: cache))
        clock.advance(by: .milliseconds(1))
        #expect(await !isFound("a", in: cache))
    }

    @Test func `without a maximum age entries do not expire`() async throws {
        let cache = cache(DataCacheLimits(maximumAge: nil))
        try await cache.store(bytes(10), for: key("a"))
        clock.advance(by: .seconds(400 * 365 * 24 * 60 * 60))
        #expect(await isFound("a", in: cache))
        #expect(await cache.trim().removals.isEmpty)
    }

    @Test func `an entry's own expiry is exact to the millisecond, whatever the maximum age`() async throws {
        let cache = cache(DataCacheLimits(maximumAge: .seconds(1)))
        let expiry = clock.now + 50
        for name in ["a", "b", "c"] { try await cache.store(CachedData(bytes(10), expiry: expiry), for: key(name)) }
        clock.advance(by: .milliseconds(49_999))
        #expect(await cache.entry(for: key("a"))?.expiry == expiry)
        #expect(await cache.mappedEntry(for: key("b"))?.expiry == expiry)
        #expect(await cache.chunks(for: key("c"))?.expiry == expiry)
        clock.advance(by: .milliseconds(1))

        #expect(await !isFound("a", in: cache))
        #expect(await cache.mappedEntry(for: key("b")) == nil)
        #expect(await cache.chunks(for: key("c")) == nil)
    }

    @Test func `a use extends the expiry by the time since the last use where this is enabled`() async throws {
        let cache = cache(DataCacheLimits(extendsExpiryOnUse: true))
        let start = clock.now
        try await cache.store(CachedData(bytes(10), expiry: start + 60), for: key("a"))
        clock.advance(by: .seconds(50))
        #expect(await cache.entry(for: key("a"))?.expiry == start + 110)
        clock.advance(by: .seconds(59))
        #expect(await cache.entry(for: key("a"))?.expiry == start + 169)
        await cache.flush()

        // Another cache learns of it and continues from there.
        let reopened = self.cache(DataCacheLimits(extendsExpiryOnUse: false))
        clock.advance(by: .milliseconds(59_999))
        #expect(await reopened.entry(for: key("a"))?.expiry == start + 169)
        clock.advance(by: .milliseconds(1))
        #expect(await reopened.entry(for: key("a")) == nil)
    }

    @Test func `an expired entry is a miss and its file is removed`() async throws {
        let cache = cache()
        try await cache.store(CachedData(bytes(10), expiry: clock.now + 60), for: key("a"))
        try await cache.store(bytes(10), for: key("b"))
        clock.advance(by: .seconds(60))

        #expect(await cache.entry(for: key("a")) == nil)
        await cache.flush()

        #expect(directory.files == [directory.file("b")])
        #expect(await cache.count == 1)
        #expect(cache.statistics.misses == 1)
        #expect(cache.statistics.evictionCount == 1)
    }

    @Test func `listings omit expired entries`() async throws {
        let cache = cache()
        try await cache.store(CachedData(bytes(10), expiry: clock.now + 60), for: key("a"))
        try await cache.store(bytes(10), for: key("b"))
        clock.advance(by: .seconds(60))
        #expect(await cache.items().map(\.name) == [key("b").fileName])
    }

    @Test func `cleaning removes expired entries and reports them`() async throws {
        let cache = cache()
        for number in 0..<100 {
            let expiry = number % 2 == 0 ? clock.now + 60 : nil
            try await cache.store(CachedData(bytes(number), expiry: expiry), for: key("\(number)"))
        }
        await cache.flush()
        clock.advance(by: .seconds(60))

        let report = await cache.trim()

        #expect(Set(report.removals.map(\.name)) == Set((0..<50).map { key("\($0 * 2)").fileName }))
        #expect(report.removals.allSatisfy { $0.evictionReason == .expired })
        #expect(await cache.count == 50)
        #expect(await cache.totalSize == directory.fileSizes)
        #expect(reports.all == [report])
    }

    @Test func `a trim removes expired entries first`() async throws {
        let cache = cache()
        try await cache.store(bytes(10), for: key("old"))
        try await cache.store(CachedData(bytes(10), expiry: clock.now + 60), for: key("expired"))
        try await cache.store(bytes(10), for: key("new"))
        // The check of the limits that follows a first store.
        await cache.flush()
        clock.advance(by: .seconds(60))

        let report = await cache.trim(toSize: .max, count: 2)

        #expect(report.removals.map(\.name) == [key("expired").fileName])
        #expect(report.removals.map(\.evictionReason) == [.expired])
    }

    @Test func `a clock set back keeps the order and expires nothing`() async throws {
        let cache = cache(DataCacheLimits(maximumAge: .seconds(1000)))
        let start = clock.now
        let expiry = start + 1_000
        try await cache.store(CachedData(bytes(10), expiry: expiry), for: key("a"))
        try await cache.store(bytes(10), for: key("b"))
        clock.setDate(start - 900)
        try await cache.store(bytes(10), for: key("c"))
        #expect(await cache.entry(for: key("a"))?.expiry == expiry)
        #expect(await isFound("b", in: cache))
        #expect(await cache.trim().removals.isEmpty)
        #expect(await cache.items().map(\.name) == ["c", "a", "b"].map { key($0).fileName })

        clock.setDate(start + 99)
        #expect(await isFound("c", in: cache))
        #expect(await cache.trim().removals.isEmpty)
        #expect(await cache.count == 3)
    }

    @Test func `a clock set far forward and back leaves no entry that never expires`() async throws {
        let cache = cache(DataCacheLimits(maximumAge: .seconds(1000)))
        let start = clock.now
        clock.setDate(Date(timeIntervalSince1970: 1e15))
        try await cache.store(bytes(10), for: key("a"))
        #expect(await isFound("a", in: cache))
        clock.setDate(start)

        // A use restores its date.
        #expect(await isFound("a", in: cache))
        clock.advance(by: .milliseconds(999_999))
        #expect(await cache.contains(key("a")))
        clock.advance(by: .milliseconds(1))
        #expect(await !cache.contains(key("a")))
        #expect(await !isFound("a", in: cache))
    }

    @Test(arguments: [DataCacheLimits.AgeBasis.lastUse, .storing])
    func `a clock set back eight days and forward again expires nothing`(basis: DataCacheLimits.AgeBasis)
        async throws
    {
        let cache = cache(DataCacheLimits(ageBasis: basis))
        let start = clock.now
        for name in ["a", "b", "c"] { try await cache.store(bytes(10), for: key(name)) }
        await cache.flush()
        clock.setDate(start - 8 * 24 * 60 * 60)

        #expect(await isFound("a", in: cache))
        #expect(await self.cache(cache.limits).contains(key("b")))
        #expect(await cache.trim().removals.isEmpty)
        #expect(await cache.items().count == 3)

        clock.setDate(start + 60)
        #expect(await cache.trim().removals.isEmpty)
        for name in ["a", "b", "c"] { #expect(await isFound(name, in: cache), "\(name)") }
        #expect(cache.statistics.evictionCount == 0)
    }

    @Test func `a clock set back changes no expiry`() async throws {
        let cache = cache(DataCacheLimits(extendsExpiryOnUse: true))
        let start = clock.now
        try await cache.store(CachedData(bytes(10), expiry: start + 60), for: key("a"))
        clock.setDate(start - 50)
        #expect(await cache.entry(for: key("a"))?.expiry == start + 60)
        clock.setDate(start - 25)
        #expect(await cache.entry(for: key("a"))?.expiry == start + 60)
        clock.setDate(start + 30)
        #expect(await cache.entry(for: key("a"))?.expiry == start + 90)
    }

    @Test func `a last use more than a year ahead is reset, together with its expiry`() async throws {
        let cache = cache(DataCacheLimits(extendsExpiryOnUse: true))
        let (start, lifetime) = (clock.now, 800.0 * 24 * 60 * 60)
        clock.setDate(start + lifetime / 2)
        try await cache.store(CachedData(bytes(10), expiry: clock.now + lifetime), for: key("a"))
        clock.setDate(start)
        #expect(await cache.entry(for: key("a"))?.expiry == start + lifetime)
        clock.setDate(start + lifetime)
        #expect(await !isFound("a", in: cache))
    }

    @Test func `an entry stored by a clock a year ahead does not outlive its expiry by a year`() async throws {
        let cache = cache()
        let start = clock.now
        clock.setDate(start + 365 * 24 * 60 * 60)
        for name in ["read", "trimmed"] {
            try await cache.store(CachedData(bytes(10), expiry: clock.now + 3_600), for: key(name))
            #expect(await isFound(name, in: cache))
        }
        await cache.flush()
        clock.setDate(start)
        try await cache.store(CachedData(bytes(10), expiry: start + 3_600), for: key("now"))

        #expect(await !cache.contains(key("read")))
        #expect(await cache.items().map(\.name) == [key("now").fileName])
        #expect(await !isFound("read", in: cache))
        // A cache that has no index reads the dates in the files.
        #expect(await !self.cache().contains(key("trimmed")))
        #expect(await cache.trim().removals.map(\.name) == [key("trimmed").fileName])
        #expect(await isFound("now", in: cache))
    }

    @Test(arguments: [-1e300, -1e15, 1e300, .infinity, -.infinity, .nan])
    func `a cache continues to store and find entries after dates out of range`(seconds: Double) async throws {
        let cache = cache(DataCacheLimits(extendsExpiryOnUse: true))
        let date = Date(timeIntervalSince1970: seconds)
        try await cache.store(CachedData(bytes(10), expiry: date), for: key("a"))
        #expect(await isFound("a", in: cache) == !(seconds < 0))
        clock.setDate(date)
        try await cache.store(bytes(10), for: key("b"))
        #expect(await isFound("b", in: cache))
        _ = await cache.items()
        await cache.trim()
        clock.setDate(Date(timeIntervalSince1970: 1_700_000_000))
        try await cache.store(bytes(10), for: key("c"))
        #expect(await isFound("c", in: cache))
    }
}
