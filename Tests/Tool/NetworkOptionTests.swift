import Alcedo
import AlcedoHTTP
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct NetworkOptionTests {
    let directory: TemporaryDirectory
    let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.path])
    }

    @Test(arguments: [
        ["--max-connections", "0"], ["--max-connections", "many"], ["--max-connections", "257"],
        ["--max-connections-per-host", "-1"], ["--max-connections-per-host="], ["--retry", "-1"], ["--retry", "1.5"],
        ["--retry", "101"], ["--timeout", "0"], ["--timeout", "-3"], ["--timeout", "nan"], ["--timeout", "inf"],
        ["--timeout", "1e3"], ["--timeout", "0x10"], ["--timeout", "86401"], ["--timeout", "1,5"], ["--timeout", "."],
        ["--header", "no colon"], ["--header", ": no name"], ["--header", "a name: x"], ["--header", "X-A: a\nX-B: b"],
        ["--header", "X-A: a\rb"], ["--header", "X-A: \u{1F426}"], ["--header", "Content-Length: 5"],
        ["--header", "transfer-encoding: chunked"], ["--header", ""], ["--verbose=yes"], ["--ca="],
        ["--no-cache=false", "--size", "64"], ["--verbose=1", "--retry", "1", "--header", "a: b"],
    ])
    func `an invalid option value is explained and exits with status 2`(words: [String]) async throws {
        let outcome = try await alcedo.run(["load"] + words + ["a.png"])

        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.problems.hasPrefix("alcedo: --"))
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
    }

    @Test(arguments: ["--max-connections", "--max-connections-per-host", "--retry", "--timeout", "--header", "--ca"])
    func `a missing option value is explained`(option: String) async throws {
        let outcome = try await alcedo.run(["load", "a.png", option])

        #expect(outcome.status == 2)
        #expect(outcome.problems.contains("\(option) needs a value"))
    }

    @Test func `verbose output reports each exchange and the totals`() async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let good = origin.url(for: "/good.jpg").absoluteString
        let missing = origin.url(for: "/missing.jpg").absoluteString

        // Alone, because it might otherwise arrive so late that it reuses the connection of another.
        let first = try await alcedo.run(["load", "--verbose", "--no-cache", good])
        let line = try #require(first.problems.split(separator: "\n").first { $0.hasPrefix("\(good): ") })
        let outcome = try await alcedo.run(["load", "--verbose", good, missing, "http://127.0.0.1:1/dead.png"])

        #expect(outcome.status == 1)
        let lines = outcome.problems.split(separator: "\n")
        let pattern =
            #"[^,]*: 200, 37026 bytes, DNS \S+( ms)?, connect [0-9.]+ ms, TLS -, first byte [0-9.]+ ms, "#
            + #"total [0-9.]+ ms, new connection, http/1\.1, attempt 1, "#
            + #"cache alcedo; fwd=uri-miss; fwd-status=200(; stored)?"#
        #expect(try line.wholeMatch(of: Regex(pattern)) != nil, "\(line)")
        #expect(lines.contains { $0.hasPrefix("\(missing): 404, ") })
        #expect(
            lines.contains { $0.hasPrefix("http://127.0.0.1:1/dead.png: no response, ") && $0.contains("failed: ") })
        #expect(lines.contains { $0.hasPrefix("exchanges: 3, ") && $0.hasSuffix(" bytes, 0 retried, 0 resumed") })
        // Without a terminal there is no progress.
        #expect(!outcome.problems.contains("\u{1B}"))
        #expect(!outcome.problems.contains("\r"))
    }

    @Test func `messages are not written elsewhere when the standard streams are closed`() async throws {
        let png = try SampleImages.data("tiles.png")
        let origin = try LoopbackOrigin { _ in OriginReply(body: png).stalling(at: .beforeHead) }
        defer { origin.stop() }
        let url = origin.url(for: "/a.png").absoluteString
        let program = Program(name: "/bin/bash", environment: alcedo.environment)

        let closed = try program.start(
            ["-c", "exec \"$@\" <&- >&- 2>&-", "bash", try ChildProcess.path(of: "alcedo")]
                + ["load", "-v", "--timeout", "300", url])
        try await origin.waitForStalls()
        let locations = try (0...2).map {
            try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(closed.process.id)/fd/\($0)")
        }
        origin.release()
        let status = try await closed.outcome().status
        let second = try await alcedo.run(["load", url])

        // No socket and no cache file receives their numbers. The output is lost, and the loaded image is not.
        #expect(locations == ["/dev/null", "/dev/null", "/dev/null"])
        #expect(status == 1)
        #expect(second.rows(url).map { $0[0] } == ["disk"])
    }

    @Test func `verbose output names a new and a reused connection`() async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let urls = ["/good.jpg", "/good.png"].map { origin.url(for: $0).absoluteString }

        let outcome = try await alcedo.run(["load", "-v", "--max-connections", "1"] + urls)

        #expect(outcome.status == 0)
        #expect(outcome.problems.components(separatedBy: "new connection").count == 2)
        #expect(outcome.problems.contains("DNS -, connect -, TLS -"))
        #expect(outcome.problems.components(separatedBy: "reused connection").count == 2)
    }

    @Test(arguments: [["--max-connections", "2"], ["--max-connections-per-host", "2"]])
    func `the number of concurrent transfers is limited`(limit: [String]) async throws {
        let png = try SampleImages.data("tiles.png")
        let origin = try LoopbackOrigin { _ in OriginReply(body: png).stalling(at: .beforeHead) }
        defer { origin.stop() }
        let urls = (0..<6).map { origin.url(for: "/\($0).png").absoluteString }

        let program = try alcedo.start(["load", "--timeout", "300"] + limit + urls)
        for round in 1...3 {
            try await origin.waitUntil { $0.requestCount >= 2 * round && $0.stalledCount == 2 }
            #expect(origin.state.requestCount == 2 * round)
            #expect(origin.state.openConnectionCount <= 2)
            origin.release()
        }

        #expect(try await program.outcome().status == 0)
    }

    @Test func `the limit of concurrent transfers can be raised`() async throws {
        let png = try SampleImages.data("tiles.png")
        let origin = try LoopbackOrigin { _ in OriginReply(body: png).stalling(at: .beforeHead) }
        defer { origin.stop() }
        let urls = (0..<20).map { origin.url(for: "/\($0).png").absoluteString }

        let program = try alcedo.start(["load", "--timeout", "300", "--max-connections", "20"] + urls)
        try await origin.waitForStalls(count: 20)
        origin.release()

        #expect(try await program.outcome().status == 0)
    }

    @Test func `a transient failure is retried as often as the option says`() async throws {
        let png = try SampleImages.data("tiles.png")
        let origin = try LoopbackOrigin { request in
            request.path == "/never.png" || request.attempt <= 2 ? .status(503) : OriginReply(body: png)
        }
        defer { origin.stop() }
        let (later, never) = (
            origin.url(for: "/later.png").absoluteString, origin.url(for: "/never.png").absoluteString
        )

        let without = try await alcedo.run(["load", "--no-cache", never])
        let outcome = try await alcedo.run(["load", "--no-cache", "-v", "--retry", "2", later, never])

        #expect(without.status == 1)
        #expect(outcome.status == 1)
        #expect(outcome.rows(later).map { $0[0] } == ["network"])
        #expect(outcome.rows(never).map { $0[0] } == ["failed"])
        #expect(origin.requestCount(for: "/later.png") == 3)
        #expect(origin.requestCount(for: "/never.png") == 1 + 3)
        #expect(outcome.problems.contains("exchanges: 6, "))
        #expect(outcome.problems.contains(" 4 retried"))
        #expect(outcome.problems.contains("attempt 3"))
    }

    @Test(arguments: [OriginReply.Position.beforeHead, .afterBody(0), .afterBody(100)])
    func `a silent server times out`(position: OriginReply.Position) async throws {
        let png = try SampleImages.data("tiles.png")
        let origin = try LoopbackOrigin { _ in OriginReply(body: png).stalling(at: position) }
        defer { origin.stop() }
        let url = origin.url(for: "/a.png").absoluteString

        let outcome = try await alcedo.run(["load", "--timeout", "0.3", "--verbose", url])

        #expect(outcome.status == 1)
        #expect(outcome.rows(url).map { $0[0] } == ["failed"])
        // Not the default fifteen.
        #expect(outcome.problems.contains("0.3 seconds"), "\(outcome.problems)")
    }

    @Test func `fields are sent with every request, and images loaded with them are cached separately`()
        async throws
    {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let urls = ["/good.jpg", "/good.png"].map { origin.url(for: $0).absoluteString }
        let fields = ["--header", "X-Test: one, two ", "--header=X-Empty:", "--header", "Authorization: Bearer abc"]

        let outcome = try await alcedo.run(["load"] + fields + urls)
        let second = try await alcedo.run(["load"] + fields + urls)
        let plain = try await alcedo.run(["load"] + urls)

        #expect(outcome.status == 0)
        #expect(second.status == 0)
        #expect(plain.status == 0)
        let requests = origin.requests
        #expect(requests.count == 4)
        for request in requests.prefix(2) {
            #expect(request.fields["X-Test"] == "one, two")
            #expect(request.fields["X-Empty"] == "")
            #expect(request.fields["Authorization"] == "Bearer abc")
        }
        for request in requests.dropFirst(2) { #expect(request.fields["X-Test"] == nil) }
        for url in urls { #expect(second.rows(url).map { $0[0] } == ["disk"]) }
    }

    @Test func `possible credentials are sent only to their origin`() async throws {
        let png = try SampleImages.data("tiles.png")
        let other = try LoopbackOrigin { _ in OriginReply(body: png) }
        defer { other.stop() }
        let elsewhere = other.url(for: "/there.png").absoluteString
        let origin = try LoopbackOrigin { request in
            switch request.path {
            case "/away.png": .redirect(to: elsewhere)
            case "/along.png": .redirect(to: "/here.png")
            default: OriginReply(body: png)
            }
        }
        defer { origin.stop() }
        let names = ["Authorization", "Cookie", "X-Api-Key", "Private-Token"]
        let fields = (names + ["Accept-Language", "User-Agent"]).flatMap { ["--header", "\($0): value"] }

        let outcome = try await alcedo.run(
            ["load"] + fields + ["/away.png", "/along.png"].map { origin.url(for: $0).absoluteString })

        #expect(outcome.status == 0, "\(outcome.problems)")
        let there = try #require(other.requests.first?.fields)
        let here = try #require(origin.requests.first { $0.path == "/here.png" }?.fields)
        for name in names {
            #expect(there[name] == nil, "\(name)")
            #expect(here[name] == "value", "\(name)")
        }
        for name in ["Accept-Language", "User-Agent"] {
            #expect(there[name] == "value")
            #expect(here[name] == "value")
        }
    }

    @Test func `an endless redirect is reported in one line`() async throws {
        let origin = try LoopbackOrigin { _ in .redirect(to: "/again.png") }
        defer { origin.stop() }
        let url = origin.url(for: "/again.png").absoluteString

        let outcome = try await alcedo.run(["load", "--retry", "3", url])

        #expect(outcome.status == 1)
        #expect(outcome.problems == "alcedo: \(url): more than 20 redirects from \(url)\n")
        #expect(origin.requests.count == 21)
    }

    @Test(arguments: [
        ("/nonexistent/ca.pem", "No such file or directory"), ("/", "not a regular file of at most 16 MiB"),
        ("/dev/zero", "not a regular file of at most 16 MiB"), (#filePath, "contains no certificate in PEM"),
    ])
    func `a file without certificate authorities is reported before anything is loaded`(file: String, reason: String)
        async throws
    {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }

        let outcome = try await alcedo.run(["load", "--ca", file, origin.url(for: "/good.png").absoluteString])

        #expect(outcome.status == 1)
        #expect(outcome.output == "")
        #expect(outcome.problems.hasPrefix("alcedo: "))
        #expect(outcome.problems.contains(reason))
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
        #expect(origin.requests.isEmpty)
    }
}
