import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoRedisCache

@Suite(.timeLimit(.minutes(10)))
struct RedisConnectionTests {
    private static let ping = [[Data("PING".utf8)]]

    private let directory: TemporaryDirectory
    private let path: String
    /// Long timeouts for each part, and a short one for a call.
    private let options: RedisOptions

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.url.appending(path: "s").path
        options = RedisOptions(
            address: .socket(path), connectTimeout: .seconds(60), responseTimeout: .seconds(60),
            callTimeout: .milliseconds(50), maximumFailureCount: 1)
    }

    private func failure(_ commands: [[Data]], _ options: RedisOptions) -> RedisFailure? {
        do throws(RedisFailure) {
            _ = try RedisConnection(options).execute(commands)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a trickling reply times out after the time of a call`() throws {
        // It would be complete after two seconds.
        let server = try FakeServer(path: path, pace: FakeServer.Pace(pause: 5, sendByteCount: 1)) { _ in
            "$400\r\n\(String(repeating: "x", count: 400))\r\n"
        }

        #expect(failure(Self.ping, options)?.kind == .timeout)
        #expect(server.commands.count <= 1)
    }

    @Test func `replies that each arrive in time still time out after the time of a call`() throws {
        let server = try FakeServer(path: path, pace: FakeServer.Pace(pause: 5)) { _ in "+PONG\r\n" }

        #expect(failure(Array(repeating: Self.ping[0], count: 400), options)?.kind == .timeout)
        #expect(server.commands.count <= 400)
    }

    @Test func `a server that reads slowly times out after the time of a call`() throws {
        // The server would have read it after five seconds.
        let server = try FakeServer(path: path, pace: FakeServer.Pace(pause: 5, readByteCount: 16 << 10)) { _ in
            "+OK\r\n"
        }
        let command = [Data("SET".utf8), Data("name".utf8), Data(count: 16 << 20)]

        #expect(failure([command], options)?.kind == .timeout)
        // Not only once it has nearly everything.
        #expect(server.receivedByteCount < 15 << 20)
    }

    @Test func `the handshake of a trickling server times out after the time of a call`() throws {
        var options = options
        options.password = "secret"
        let server = try FakeServer(path: path, pace: FakeServer.Pace(pause: 5, sendByteCount: 1)) { _ in
            "+\(String(repeating: "x", count: 400))\r\n"
        }

        #expect(failure(Self.ping, options)?.kind == .timeout)
        #expect(server.words(of: "PING").isEmpty)
    }

    @Test func `a trickling server is not used for the next calls`() async throws {
        let server = try FakeServer(path: path, pace: FakeServer.Pace(pause: 5, sendByteCount: 1)) { _ in
            "$400\r\n\(String(repeating: "x", count: 400))\r\n"
        }
        let cache = RedisDataCache(options, clock: ManualClock())

        for _ in 0..<3 { #expect(await cache.entry(for: ImageKey(ResourceKey("a"))) == nil) }

        #expect(cache.isServerFailing)
        #expect(server.commands.count <= 1)
        #expect(cache.statistics.damagedEntries == 0)
    }

    @Test func `the time of a call is two seconds, well below that of a request`() {
        #expect(RedisOptions().callTimeout == .seconds(2))
        var options = options
        options.callTimeout = .seconds(-1)
        #expect(failure(Self.ping, options)?.kind == .connection)
    }

    @Test func `long and short arguments arrive unchanged, and so do their replies`() throws {
        let long = String(repeating: "long", count: 2 << 20)
        let server = try FakeServer(path: path) { words in "$\(words[1].utf8.count)\r\n\(words[1])\r\n" }
        var options = options
        options.callTimeout = .seconds(120)
        let connection = try RedisConnection(options)
        let words = ["", "short", long, "é\r\n", String(repeating: "x", count: 16 << 10)]

        for _ in 0..<2 {
            let replies = try connection.execute(words.map { [Data("ECHO".utf8), Data($0.utf8)] })
            #expect(replies.map(\.bytes) == words.map { Data($0.utf8) })
        }
        #expect(server.words(of: "ECHO").map { $0[0] } == words + words)
    }

    @Test func `a reply over the size limit closes the connection`() throws {
        var options = options
        (options.callTimeout, options.maximumEntryByteCount) = (.seconds(120), 1 << 20)
        let server = try FakeServer(path: path) { _ in "$8388608\r\n\(String(repeating: "x", count: 8 << 20))\r\n" }

        #expect(failure(Self.ping, options)?.kind == .connection)
        #expect(server.commands.count == 1)
        options.maximumEntryByteCount = .max
        #expect(failure(Self.ping, options) == nil)
    }

    @Test func `the first of several errors is thrown`() throws {
        var options = options
        options.callTimeout = .seconds(120)
        let server = try FakeServer(path: path) { "-NO \($0[0])\r\n" }

        let failure = failure([[Data("A".utf8)], [Data("B".utf8)]], options)

        #expect(failure?.kind == .rejected)
        #expect(failure?.message == "NO A")
        #expect(server.commands == [["A"], ["B"]])
    }
}
