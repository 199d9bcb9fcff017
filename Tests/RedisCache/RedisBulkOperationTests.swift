import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoRedisCache

/// With a server that replies at once and wrongly. If nothing else ends the requests, the server does so eventually.
@Suite(.timeLimit(.minutes(10)))
struct RedisBulkOperationTests {
    private static let maximumRounds = 2_000

    private let key = ImageKey(ResourceKey("a"))
    private let directory: TemporaryDirectory
    private let options: RedisOptions
    private let path: String
    private let clock = ManualClock()
    /// The number of commands of the tested kind.
    private let rounds = Watched(0)

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.url.appending(path: "s").path
        options = RedisOptions(
            address: .socket(path), prefix: "p:", connectTimeout: .seconds(120), responseTimeout: .seconds(120),
            callTimeout: .seconds(120), bulkOperationTimeout: .seconds(10))
    }

    private static func bulk(_ text: String) -> String { "$\(text.utf8.count)\r\n\(text)\r\n" }

    private static func list(_ items: [String]) -> String { "*\(items.count)\r\n\(items.joined())" }

    private static func name(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    /// Replies to SCAN with the round's cursor and names.
    private func scanning(_ page: @escaping @Sendable (Int) -> (cursor: String, names: [String])) throws -> FakeServer {
        try FakeServer(path: path) { [rounds] words in
            guard words[0] == "SCAN" else { return ":\(words.count - 1)\r\n" }
            let round = rounds.update { rounds in
                rounds += 1
                return rounds
            }
            let (cursor, names) = page(round)
            return Self.list([Self.bulk(round < Self.maximumRounds ? cursor : "0"), Self.list(names.map(Self.bulk))])
        }
    }

    /// Replies to ZRANGE with the round's records, and to ZREM with a number.
    private func recording(_ removed: Int, _ records: @escaping @Sendable (Int) -> [String]) throws -> FakeServer {
        try FakeServer(path: path) { [rounds] words in
            switch words[0] {
            case "ZRANGE":
                let round = rounds.update { rounds in
                    rounds += 1
                    return rounds
                }
                return Self.list(round < Self.maximumRounds ? records(round).map(Self.bulk) : [])
            case "ZREM": return ":\(removed)\r\n"
            default: return ":\(words.count - 1)\r\n"
            }
        }
    }

    @Test(arguments: [["7", "7"], ["1", "2", "3"], ["x"], ["-1"], [""]])
    func `a repeated or invalid cursor ends a scan`(cursors: [String]) async throws {
        let server = try scanning { (cursors[$0 % cursors.count], ["p:e:\(Self.name($0))"]) }
        let cache = RedisDataCache(options, clock: clock)

        #expect(await cache.count == 0)
        #expect(await cache.totalSize == 0)
        await cache.removeAll()

        #expect(server.words(of: "SCAN").count <= 3 * (cursors.count + 1))
        // The server does reply.
        #expect(!cache.isServerFailing)
    }

    @Test func `a scan of a growing server ends after the time of a bulk operation`()
        async throws
    {
        let server = try scanning { [clock] round in
            clock.advance(by: .seconds(1))
            return ("\(round)", ["p:e:\(Self.name(round))"])
        }
        let cache = RedisDataCache(options, clock: clock)

        #expect(await cache.count == 0)
        #expect(server.words(of: "SCAN").count == 10)
        #expect(await cache.totalSize == 0)
        #expect(server.words(of: "SCAN").count == 20)
        await cache.removeAll()
        #expect(server.words(of: "SCAN").count == 30)
        // Names found earlier were removed at once. In the last round there was no time left.
        #expect(server.words(of: "UNLINK").count == 9)
    }

    @Test func `names of other programs are neither counted nor removed`() async throws {
        let (own, record) = ("p:e:\(Self.name(1))", "p:v:\(Self.name(2))")
        let foreign = [
            "p:e:e:\(Self.name(3))", "p:e:\(Self.name(3))0", "p:e:\(Self.name(3).dropLast())", "q:e:\(Self.name(3))",
            "",
            "p:e:\(Self.name(3).dropLast())g", "p:e:\(Self.name(0xA).uppercased())", "p:e:", "else",
        ]
        let server = try scanning { _ in ("0", foreign + [own, own, record]) }
        let cache = RedisDataCache(options, clock: clock)

        #expect(await cache.count == 1)
        // The server replies 1 to everything, so that is the entry's length.
        #expect(await cache.totalSize == own.utf8.count + 1)
        await cache.removeAll()

        #expect(server.words(of: "UNLINK").flatMap { $0 } == [own, own])
        // The records of a set are removed with their entries, and this one has none.
        #expect(server.words(of: "ZRANGE").map(\.first) == [record])
        #expect(server.words(of: "STRLEN") == [[own]])
        for words in server.words(of: "SCAN") { #expect(words[2].hasSuffix(String(repeating: "?", count: 64))) }
    }

    @Test func `records that remain do not cause endless work`() async throws {
        let server = try recording(0) { _ in [Self.name(1)] }
        let cache = RedisDataCache(options, clock: clock)

        #expect(await cache.removeAll(of: key.resource) == 0)

        #expect(server.words(of: "ZRANGE").count == 2)
        #expect(server.words(of: "UNLINK") == [["p:e:\(Self.name(1))"]])
    }

    @Test func `the time of a scan continues over another connection`() async throws {
        let server = try FakeServer(path: path) { [clock, rounds] words in
            guard words[0] == "SCAN" else { return ":1\r\n" }
            clock.advance(by: .seconds(1))
            let round = rounds.update { rounds in
                rounds += 1
                return rounds
            }
            // An invalid reply closes the connection.
            return round == 5 ? "?\r\n" : Self.list([Self.bulk("\(round)"), Self.list([])])
        }
        let cache = RedisDataCache(options, clock: clock)
        // A connection in the pool.
        #expect(await cache.contains(key))

        #expect(await cache.count == 0)

        #expect(server.words(of: "SCAN").count == 10)
    }

    @Test(arguments: [0, 1])
    func `removing a growing resource ends after the time of a bulk operation`(removed: Int) async throws {
        let server = try recording(removed) { [clock] round in
            clock.advance(by: .seconds(1))
            return [Self.name(round)]
        }
        let cache = RedisDataCache(options, clock: clock)

        #expect(await cache.removeAll(of: key.resource) == 0)

        #expect(server.words(of: "ZRANGE").count == 10)
    }

    @Test func `records removed concurrently are not an error`() async throws {
        let server = try recording(0) { $0 <= 3 ? [Self.name($0)] : [] }
        let cache = RedisDataCache(options, clock: clock)

        #expect(await cache.removeAll(of: key.resource) == 3)

        #expect(server.words(of: "ZREM").count == 3)
    }

    @Test func `a record of another form is removed, and no name is made from it`() async throws {
        let foreign = "e:\(Self.name(1))"
        let server = try recording(1) { [[foreign], [foreign, Self.name(2)], []][$0 - 1] }
        let cache = RedisDataCache(options, clock: clock)

        #expect(await cache.removeAll(of: key.resource) == 1)

        #expect(server.words(of: "UNLINK") == [["p:e:\(Self.name(2))"]])
        #expect(server.words(of: "ZREM").map { Array($0.dropFirst()) } == [[foreign], [foreign, Self.name(2)]])
    }

    @Test func `removing everything removes the entries of records that arrive meanwhile, too`() async throws {
        let (set, other) = ("p:v:\(Self.name(1))", "p:v:\(Self.name(2))")
        let server = try FakeServer(path: path) { [rounds] words in
            switch words[0] {
            case "SCAN":
                return Self.list([Self.bulk("0"), Self.list([set, other].map(Self.bulk))])
            case "ZRANGE" where words[1] == set:
                let round = rounds.update { rounds in
                    rounds += 1
                    return rounds
                }
                return Self.list(round <= 2 ? [Self.bulk(Self.name(round + 2))] : [])
            case "ZRANGE": return Self.list([])
            default: return ":\(words.count - 1)\r\n"
            }
        }

        await RedisDataCache(options, clock: clock).removeAll()

        let changes = server.commands.filter { !["SCAN", "ZRANGE"].contains($0[0]) }
        #expect(
            changes
                == [3, 4].flatMap {
                    [["MULTI"], ["ZREM", set, Self.name($0)], ["UNLINK", "p:e:\(Self.name($0))"], ["EXEC"]]
                })
    }

    @Test func `numbers that are too large do not trap`() async throws {
        let server = try FakeServer(path: path) { words in
            switch words[0] {
            case "SCAN":
                Self.list([Self.bulk("0"), Self.list([1, 2].map { Self.bulk("p:e:\(Self.name($0))") })])
            default: ":\(Int.max)\r\n"
            }
        }
        #expect(await RedisDataCache(options, clock: clock).totalSize > 1 << 33)
        #expect(server.words(of: "STRLEN").count == 2)
    }
}
