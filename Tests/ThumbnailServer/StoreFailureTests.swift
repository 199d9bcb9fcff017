import Alcedo
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

/// A disk that fails, and a process without file descriptors.
@Suite(.timeLimit(.minutes(10)))
struct StoreFailureTests {
    /// Requests thumbnails of several originals, one after another, and returns their statuses.
    private func statuses(
        _ stack: ServerStack, _ origin: LoopbackOrigin, count: Int = 3
    ) async throws -> [Int] {
        var statuses: [Int] = []
        for number in 0..<count {
            let url = QueryItems.encoded(origin.url(for: "/kept/max-age=600?\(number)").absoluteString)
            let head = RequestHead(method: "GET", target: "/thumbnail?url=\(url)&w=10")
            guard case .asynchronous(let operation) = stack.service.respond(to: head) else { continue }
            statuses.append(await operation().status)
        }
        return statuses
    }

    @Test func `a disk on which nothing can be stored is reported once, and thumbnails are served`() async throws {
        let origin = try LoopbackOrigin(handler: TestServer.images)
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        var settings = TestServer.settings
        settings.cacheDirectory = directory.url
        // After the start, a file takes the place of each directory of the caches.
        for path in settings.cacheDirectories.map(\.path) {
            let parent = URL(filePath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
            try Data().write(to: URL(filePath: path))
        }
        let lines = Watched<[String]>([])
        let stack = ServerStack(settings) { line in lines.update { $0.append(line) } }

        #expect(try await statuses(stack, origin) == [200, 200, 200])
        await stack.shutDown()

        #expect(lines.value.count == 1)
        #expect(lines.value.first?.hasPrefix("caching in \(directory.url.path) is limited: ") == true)
    }

    @Test(
        .enabled(if: SmallDisk.isPermitted, "only the superuser may make a small file system"),
        arguments: [false, true])
    func `a full disk is reported once, and thumbnails are served`(isFull: Bool) async throws {
        let origin = try LoopbackOrigin(handler: TestServer.images)
        defer { origin.stop() }
        let disk = try #require(try SmallDisk(kibibytes: 48))
        // Without other files, the caches remove their own entries.
        if isFull { disk.fill() }
        var settings = TestServer.settings
        settings.cacheDirectory = disk.url
        let lines = Watched<[String]>([])
        let stack = ServerStack(settings) { line in lines.update { $0.append(line) } }

        #expect(try await statuses(stack, origin, count: 24).allSatisfy { $0 == 200 })
        await stack.shutDown()

        // The report of removed entries may follow the removal.
        try await lines.waitUntil { !$0.isEmpty }
        #expect(lines.value.count == 1)
    }

    @Test func `each change of a disk is one line, at most one a minute`() {
        let clock = ManualClock()
        let lines = Watched<[String]>([])
        let report = DiskReport(URL(filePath: "/cache"), clock: clock) { line in lines.update { $0.append(line) } }
        let failure = DataCacheError(.noSpace, "full")
        let (failed, works) = ("caching in /cache is limited: full", "caching in /cache works again")

        report.recordSuccess()
        #expect(lines.value.isEmpty)
        for _ in 0..<3 {
            report.recordFailure(failure)
            report.recordSuccess()
        }
        #expect(lines.value == [failed])

        // Some stores still fail.
        for _ in 0..<5 {
            clock.advance(by: .seconds(59))
            report.recordSuccess()
            report.recordFailure(failure)
        }
        #expect(lines.value == [failed])

        clock.advance(by: .seconds(60))
        for _ in 0..<3 { report.recordSuccess() }
        #expect(lines.value == [failed, works])
        report.recordFailure(failure)
        clock.advance(by: .seconds(59))
        report.recordFailure(failure)
        #expect(lines.value == [failed, works])

        clock.advance(by: .seconds(1))
        report.recordFailure(failure)
        #expect(lines.value == [failed, works, failed])
    }

    @Test func `an error that says nothing about the disk is not reported`() {
        let lines = Watched<[String]>([])
        let report = DiskReport(nil, clock: ManualClock()) { line in lines.update { $0.append(line) } }

        report.recordFailure(CancellationError())
        report.recordFailure(DataCacheError(.tooLarge, "large"))

        #expect(lines.value.isEmpty)
    }

    @Test func `a disk that works again is reported, and stores again`() async throws {
        let origin = try LoopbackOrigin(handler: TestServer.images)
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        var settings = TestServer.settings
        settings.cacheDirectory = directory.url
        let paths = settings.cacheDirectories.map(\.path)
        for path in paths {
            let parent = URL(filePath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
            try Data().write(to: URL(filePath: path))
        }
        let lines = Watched<[String]>([])
        let clock = ManualClock(now: Date())
        let stack = ServerStack(settings, clock: clock) { line in lines.update { $0.append(line) } }
        #expect(try await statuses(stack, origin, count: 1) == [200])
        try await lines.waitUntil { $0.count == 1 }

        for path in paths { try FileManager.default.removeItem(atPath: path) }
        // A store that began before may fail later.
        var count = 1
        try await eventually {
            count += 1
            clock.advance(by: .seconds(60))
            let found = try await statuses(stack, origin, count: count)
            #expect(found.allSatisfy { $0 == 200 })
            return lines.value.count == 2
        }
        await stack.shutDown()

        #expect(lines.value.last == "caching in \(directory.url.path) works again")
    }

    @Test func `an entry that is too large for the cache is not reported`() async throws {
        let origin = try LoopbackOrigin(handler: TestServer.images)
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        var settings = TestServer.settings
        (settings.cacheDirectory, settings.diskLimit) = (directory.url, 2)
        let lines = Watched<[String]>([])
        let stack = ServerStack(settings) { line in lines.update { $0.append(line) } }

        #expect(try await statuses(stack, origin) == [200, 200, 200])
        await stack.shutDown()

        #expect(lines.value.isEmpty)
    }

    @Test(.spawnsProcesses) func `without file descriptors for the origin the status is 503, and one line says why`()
        async
    {
        await #expect(processExitsWith: .success) {
            try Scarcity.limitDescriptors(to: 200)
            let origin = try LoopbackOrigin(handler: TestServer.images)
            let lines = Watched<[String]>([])
            let stack = ServerStack(TestServer.settings) { line in lines.update { $0.append(line) } }
            let tests = StoreFailureTests()
            try await Scarcity.withDescriptors(0) {
                let statuses = try await tests.statuses(stack, origin)
                #expect(statuses == [503, 503, 503])
            }
            #expect(lines.value.count == 1)
            #expect(lines.value.first?.contains("too many open files") == true)
            #expect(try await tests.statuses(stack, origin) == [200, 200, 200])
        }
    }
}
