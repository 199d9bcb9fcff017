import AlcedoCore
import AlcedoDiskCache
import AlcedoHTTP
import AlcedoLibc
import AlcedoSQLiteCache
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

/// One directory used by consecutive processes and by two at once.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct RestartTests {
    enum Disk: String, CaseIterable, Sendable {
        case files, database

        func make(_ path: String) -> any MaintainableDataCache {
            let url = URL(filePath: path)
            return switch self {
            case .files: FileDiskCache(directory: url, lockTimeout: .seconds(300))
            case .database: SQLiteDiskCache(directory: url, lockTimeout: .seconds(300))
            }
        }

        func verify(_ path: String) async -> DataCacheVerification {
            let url = URL(filePath: path)
            return switch self {
            case .files: await FileDiskCache(directory: url, lockTimeout: .seconds(300)).verify()
            case .database: await SQLiteDiskCache(directory: url, lockTimeout: .seconds(300)).verify()
            }
        }
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let pageCount = 12
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)

    /// Returns the content of a page: its name and language, repeated, with an increasing version.
    private static func content(_ page: String, _ language: String, _ version: Int) -> String {
        String(repeating: "\(page) \(language) \(version);", count: 40 * (version % 7 + 1))
    }

    /// Returns a server whose responses identify themselves. Each request makes a new version.
    private static func server(firstVersion: Int) -> FakeTransport {
        let version = Watched(firstVersion)
        return FakeTransport { request in
            let version = version.update { version in
                version += 1
                return version
            }
            let language = request.fields["Accept-Language"] ?? "none"
            if let tag = request.fields["If-None-Match"], tag.contains(language), version % 2 == 0 {
                let own = tag.split(separator: ",").first { $0.contains(language) }.map {
                    String($0.filter { $0 != " " })
                }
                return HTTPResponse(request, status: 304, ["ETag": own ?? "", "Cache-Control": "max-age=5"])
            }
            return HTTPResponse(
                request,
                [
                    "Cache-Control": "max-age=\(version % 3 * 5)", "Vary": "Accept-Language",
                    "ETag": "\"\(language)-\(version)\"",
                ], content(request.url.lastPathComponent, language, version))
        }
    }

    private static func check(_ text: String, _ page: String, _ language: String) throws {
        let version = text.split(separator: ";").first?.split(separator: " ").last.flatMap { Int($0) } ?? -1
        guard version >= 0, text == content(page, language, version) else {
            throw Failure(description: "\(page) in \(language) is \(text.prefix(60))… of \(text.utf8.count)")
        }
    }

    /// Requests pages, changes them, and checks that each response is whole and matches its request.
    private static func work(
        _ disk: Disk, in path: String, seed: UInt64, steps: Int, onStep: (Int) -> Void = { _ in }
    ) async throws {
        var random = SeededGenerator(seed: seed)
        let clock = ManualClock(now: start)
        let cache = CachingTransport(
            wrapping: server(firstVersion: Int(seed) * 1_000_000), store: DataResponseStore(disk.make(path)),
            clock: clock)
        for step in 0..<steps {
            onStep(step)
            let page = "page-\(Int.random(in: 0..<pageCount, using: &random))"
            let language = ["en", "de", "fr"].randomElement(using: &random) ?? ""
            if Int.random(in: 0..<15, using: &random) == 0 {
                _ = try await cache.send(HTTPRequest(method: .delete, url: .page(page))).text()
            } else {
                let request = HTTPRequest(url: .page(page), fields: ["Accept-Language": language])
                try check(try await cache.send(request).text(), page, language)
            }
            clock.advance(by: .seconds(1))
        }
        await cache.finish()
    }

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test(arguments: Disk.allCases)
        func `two processes on one directory never serve each other incomplete or wrong responses`(disk: Disk)
            async throws
        {
            let directory = try TemporaryDirectory()
            let (path, name) = (directory.path, disk.rawValue)
            async let other: Void = {
                await #expect(processExitsWith: .success) { [path = path as String, name = name as String] in
                    let disk = try #require(Disk(rawValue: name))
                    try await Self.work(disk, in: path, seed: 1, steps: 300)
                }
            }()
            try await Self.work(disk, in: path, seed: 2, steps: 300)
            await other

            let verification = await disk.verify(path)
            #expect(verification.damagedNames.isEmpty)
        }
    #endif

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test(arguments: Disk.allCases)
        func `a response stored by one process is used by the next with its age`(disk: Disk) async throws {
            let directory = try TemporaryDirectory()
            let (path, name) = (directory.path, disk.rawValue)
            await #expect(processExitsWith: .success) { [path = path as String, name = name as String] in
                let disk = try #require(Disk(rawValue: name))
                let server = FakeTransport {
                    HTTPResponse(
                        $0, ["Cache-Control": "max-age=100", "Vary": "Accept-Language", "Age": "10"],
                        $0.fields["Accept-Language"] ?? "")
                }
                let cache = CachingTransport(
                    wrapping: server, store: DataResponseStore(disk.make(path)), clock: ManualClock(now: Self.start))
                for language in ["en", "de"] {
                    _ = try await cache.send(HTTPRequest(url: .page(), fields: ["Accept-Language": language])).text()
                }
                await cache.finish()
            }
            let nobody = FakeTransport { _ in throw HTTPTransportError(.cannotConnect, "nobody") }
            let clock = ManualClock(now: Self.start + 20)
            let cache = CachingTransport(wrapping: nobody, store: DataResponseStore(disk.make(path)), clock: clock)
            for language in ["en", "de"] {
                let response = try await cache.send(HTTPRequest(url: .page(), fields: ["Accept-Language": language]))
                #expect(response.caching?.source == .fresh)
                #expect(response.head.fields["Age"] == "30")
                #expect(try await response.text() == language)
            }
            clock.advance(by: .seconds(100))
            let stale = try await cache.send(HTTPRequest(url: .page(), fields: ["Accept-Language": "en"]))
            #expect(stale.caching?.source == .stale)
            #expect(nobody.requests.count == 1)
        }
    #endif

    @Test(arguments: Disk.allCases)
    func `requests through caches of their own are served like by one cache`(disk: Disk) async throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock(now: Self.start)
        let server = Self.server(firstVersion: 0)
        var random = SeededGenerator(seed: 3)
        var freshCount = 0
        for _ in 0..<100 {
            let cache = CachingTransport(
                wrapping: server, store: DataResponseStore(disk.make(directory.path)), clock: clock)
            let page = "page-\(Int.random(in: 0..<3, using: &random))"
            let language = ["en", "de"].randomElement(using: &random) ?? ""
            let response = try await cache.send(HTTPRequest(url: .page(page), fields: ["Accept-Language": language]))
            if response.caching?.source == .fresh { freshCount += 1 }
            try Self.check(try await response.text(), page, language)
            clock.advance(by: .seconds(1))
        }
        #expect(freshCount > 20)
        #expect(server.requests.count + freshCount == 100)
    }

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test(arguments: Disk.allCases)
        func `a process killed while it stores leaves only complete responses`(disk: Disk) async throws {
            let directory = try TemporaryDirectory()
            let (path, name) = (directory.path, disk.rawValue)
            for round in 0..<2 {
                await #expect(processExitsWith: .failure) {
                    [path = path as String, name = name as String, round = round as Int] in
                    let disk = try #require(Disk(rawValue: name))
                    let stepCount = Watched(0)
                    Task.detached {
                        // In the middle of a step, because the work continues meanwhile.
                        try? await stepCount.waitUntil { $0 >= 50 * (round + 1) }
                        abort()
                    }
                    try await Self.work(disk, in: path, seed: UInt64(round + 4), steps: .max) { step in
                        stepCount.update { $0 = step }
                    }
                }
            }
            try await Self.work(disk, in: path, seed: 9, steps: 100)
        }
    #endif
}
