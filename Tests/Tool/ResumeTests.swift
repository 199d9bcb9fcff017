import Alcedo
import AlcedoHTTP
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct ResumeTests {
    let directory: TemporaryDirectory
    let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.path])
    }

    /// A load that may stall for as long as a busy machine delays the test.
    private static let load = ["load", "--timeout", "300"]

    private var cache: URL { directory.url.appending(path: "alcedo") }

    /// Returns the bytes of all kept partial downloads, without the index and files being written, which a killed
    /// process leaves unused.
    private func unfinishedByteCount() -> Int {
        let parts = cache.appending(path: "parts").path
        let files = FileManager.default.enumerator(atPath: parts)?.compactMap { $0 as? String } ?? []
        return files.filter { $0.contains("/") && !$0.hasPrefix("unfinished/") }
            .compactMap { try? FileManager.default.attributesOfItem(atPath: "\(parts)/\($0)")[.size] as? Int }
            .reduce(0, +)
    }

    private func waitForParts(_ byteCount: Int, of program: Program.Running) async throws {
        try await program.waitUntil("\(byteCount) bytes are kept") { unfinishedByteCount() >= byteCount }
    }

    /// Kills a load when this many bytes are on disk.
    private func load(_ url: URL, killedAfter byteCount: Int) async throws {
        let program = try alcedo.start(Self.load + [url.absoluteString])
        try await waitForParts(byteCount, of: program)
        program.process.send(SIGKILL)
        #expect(try await program.outcome().status == -SIGKILL)
    }

    /// Returns the bytes that the cache has for the next run.
    private func stored(_ url: URL) async throws -> Data? {
        let request = ImageRequest(url: url)
        return await FileDiskCache(directory: cache).data(for: request.originalKey)
    }

    @Test func `a killed download is resumed`() async throws {
        let content = try ChangingContent(seed: 1, stall: 3 << 20)
        let origin = try LoopbackOrigin { content.reply(to: $0) }
        defer { origin.stop() }
        let url = origin.url(for: "/big.png")

        try await load(url, killedAfter: 2 << 20)
        content.state.update { $0.stall = nil }
        let second = try await alcedo.run(["load", "--verbose", url.absoluteString])

        #expect(second.status == 0, "\(second.problems)")
        let fields = try #require(origin.requests.last?.fields)
        let range = try #require(fields["Range"])
        let offset = try #require(Int(range.dropFirst("bytes=".count).dropLast()))
        #expect(offset >= 2 << 20)
        #expect(offset <= 3 << 20)
        #expect(fields["If-Range"] == "\"one\"")
        #expect(second.problems.contains("206, \(content.state.value.data.count - offset) bytes"))
        #expect(second.problems.contains("resumed from byte \(offset)"))
        #expect(try await stored(url) == content.state.value.data)
        // A completed download is not kept twice.
        let later = try await alcedo.run(["load", url.absoluteString])
        #expect(later.rows(url.absoluteString).map { $0[0] } == ["disk"])
        #expect(origin.requests.count == 2)
    }

    /// Interrupts the loads of some contents in their middle, and returns the offsets at which the next ones resumed.
    private func offsetsAfterInterruption(stall: Int, output: URL) async throws -> [String: Int] {
        let content = try ChangingContent(seed: 2, stall: stall)
        let origin = try LoopbackOrigin { content.reply(to: $0) }
        defer { origin.stop() }
        let urls = (0..<3).map { origin.url(for: "/\($0).png") }

        let broken = try alcedo.start(Self.load + ["--verbose", "--output", output.path] + urls.map(\.absoluteString))
        try await origin.waitForStalls(count: 3)
        try await waitForParts(3 * 512 << 10, of: broken)
        broken.process.send(SIGINT)
        let outcome = try await broken.outcome()
        content.state.update { $0.stall = nil }
        let second = try await alcedo.run(["load"] + urls.map(\.absoluteString))

        #expect(outcome.status == 130)
        #expect(outcome.output == "")
        let words = outcome.problems.split(separator: "\n").filter { $0.hasPrefix("alcedo:") }
        #expect(words == ["alcedo: interrupted: 0 of 3 loaded"], "\(outcome.problems)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: output.path) == [])
        #expect(second.status == 0)
        #expect(origin.requests.count == 6)
        for url in urls { #expect(try await stored(url) == content.state.value.data) }
        let offsets = origin.requests.dropFirst(3).map { request in
            (request.path, Int(request.fields["Range"]?.dropFirst("bytes=".count).dropLast() ?? "") ?? 0)
        }
        return Dictionary(uniqueKeysWithValues: offsets)
    }

    @Test func `Ctrl-C keeps the received bytes and writes nothing`() async throws {
        let output = directory.url.appending(path: "out")
        var offsets: [String: Int] = [:]

        // Bytes that the origin has sent may still be in flight when the signal arrives.
        for _ in 0..<5 where offsets.values.max() != 700_000 {
            offsets = try await offsetsAfterInterruption(stall: 700_000, output: output)
            for offset in offsets.values { #expect((512 << 10...700_000).contains(offset)) }
        }

        // Including the last pieces, which were not full.
        #expect(offsets.values.max() == 700_000)
    }

    @Test(arguments: [SIGTERM, SIGHUP])
    func `other termination signals are handled, too`(signal: Int32) async throws {
        let origin = try LoopbackOrigin { _ in .ok(Data("x".utf8)).stalling(at: .beforeHead) }
        defer { origin.stop() }

        let program = try alcedo.start(Self.load + [origin.url(for: "/a.png").absoluteString])
        try await origin.waitForStalls()
        program.process.send(signal)

        #expect(try await program.outcome().status == 128 + signal)
    }

    @Test func `a retry delay does not outlast Ctrl-C`() async throws {
        let origin = try LoopbackOrigin { _ in .status(503, fields: ["Retry-After": "600"]) }
        defer { origin.stop() }

        // Twenty minutes of delays, so that the signal arrives during one however late it is.
        let program = try alcedo.start(["load", "--retry", "20", origin.url(for: "/a.png").absoluteString])
        try await origin.waitForRequest()
        program.process.send(SIGINT)

        #expect(try await program.outcome().status == 130)
    }

    @Test func `processing does not outlast Ctrl-C`() async throws {
        let png = try SampleImages.data("tiles.png")
        let origin = try LoopbackOrigin { _ in OriginReply(body: png) }
        defer { origin.stop() }
        // Half an hour of work without optimization, so that the signal arrives during it however late it is.
        let work = ["resize:2048x2048,enlarge"] + Array(repeating: "blur:20", count: 300)

        let program = try alcedo.start(
            ["load", "-v", "--size", "512", origin.url(for: "/a.png").absoluteString]
                + work.flatMap { ["--processor", $0] })
        // The image has arrived when its exchange is reported.
        try await program.waitUntil("the exchange is reported") { try !program.problemsSoFar.isEmpty }
        program.process.send(SIGINT)
        let outcome = try await program.outcome()

        #expect(outcome.status == 130)
        #expect(outcome.output == "")
        // If the processing had ended first, one image would have been loaded.
        #expect(outcome.problems.hasSuffix("\nalcedo: interrupted: 0 of 1 loaded\n"))
    }

    @Test func `an ignored signal stays ignored`() async throws {
        let png = try SampleImages.data("tiles.png")
        let origin = try LoopbackOrigin { _ in OriginReply(body: png).stalling(at: .beforeHead) }
        defer { origin.stop() }
        let url = origin.url(for: "/a.png").absoluteString
        let program = Program(name: "/bin/bash", environment: alcedo.environment)

        let running = try program.start(
            ["-c", "trap '' HUP; exec \"$@\"", "bash", try ChildProcess.path(of: "alcedo")] + Self.load + [url])
        try await origin.waitForStalls()
        running.process.send(SIGHUP)
        origin.release()
        let outcome = try await running.outcome()

        #expect(outcome.status == 0, "\(outcome.problems)")
        #expect(outcome.rows(url).map { $0[0] } == ["network"])
    }

    @Test func `an unwritable store of partial downloads prevents resumption only`() async throws {
        let content = try ChangingContent(seed: 10)
        let origin = try LoopbackOrigin { content.reply(to: $0) }
        defer { origin.stop() }
        let url = origin.url(for: "/big.png")
        try FileManager.default.createDirectory(at: cache, withIntermediateDirectories: true)
        try Data("no directory".utf8).write(to: cache.appending(path: "parts"))

        let outcome = try await alcedo.run(["load", url.absoluteString])

        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        #expect(try await stored(url) == content.state.value.data)
    }

    @Test func `changed content is downloaded again in full`() async throws {
        let content = try ChangingContent(seed: 3, stall: 3 << 20)
        let origin = try LoopbackOrigin { content.reply(to: $0) }
        defer { origin.stop() }
        let url = origin.url(for: "/big.png")

        try await load(url, killedAfter: 2 << 20)
        let other = try ChangingContent(seed: 4, tag: "\"two\"").state.value
        content.state.update { $0 = other }
        let second = try await alcedo.run(["load", "-v", url.absoluteString])

        #expect(second.status == 0)
        #expect(origin.requests.last?.fields["If-Range"] == "\"one\"")
        #expect(second.problems.contains("200, \(other.data.count) bytes"))
        #expect(second.problems.contains("not resumed from byte"))
        #expect(try await stored(url) == other.data)
    }

    @Test func `without a strong validator nothing is combined`() async throws {
        let content = try ChangingContent(seed: 5, tag: "W/\"weak\"", stall: 3 << 20)
        let origin = try LoopbackOrigin { content.reply(to: $0) }
        defer { origin.stop() }
        let url = origin.url(for: "/big.png")

        let killed = try alcedo.start(Self.load + [url.absoluteString])
        try await origin.waitForStalls()
        killed.process.send(SIGKILL)
        _ = try await killed.outcome()
        content.state.update { $0.stall = nil }
        let second = try await alcedo.run(["load", url.absoluteString])

        #expect(second.status == 0)
        #expect(origin.requests.map { $0.fields["Range"] } == [nil, nil])
    }

    @Test func `without a cache no partial download is on disk`() async throws {
        let content = try ChangingContent(seed: 6, stall: 3 << 20)
        let origin = try LoopbackOrigin { content.reply(to: $0) }
        defer { origin.stop() }
        let url = origin.url(for: "/big.png")

        let broken = try alcedo.start(Self.load + ["--no-cache", url.absoluteString])
        try await origin.waitForStalls()
        broken.process.send(SIGINT)

        #expect(try await broken.outcome().status == 130)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }

    @Test func `an interrupted connection is resumed within the run`() async throws {
        let content = try ChangingContent(seed: 7)
        let origin = try LoopbackOrigin { request in
            let reply = content.reply(to: request)
            return request.attempt == 1 ? reply.cutting(at: .afterBody(1 << 20)) : reply
        }
        defer { origin.stop() }
        let url = origin.url(for: "/big.png")

        let outcome = try await alcedo.run(["load", "--no-cache", "--verbose", "--retry", "1", url.absoluteString])

        #expect(outcome.status == 0, "\(outcome.problems)")
        #expect(outcome.rows(url.absoluteString)[0][3] == "\(content.state.value.data.count)")
        #expect(outcome.problems.contains("attempt 2, resumed from byte \(1 << 20)"), "\(outcome.problems)")
        #expect(
            outcome.problems.contains("exchanges: 2, \(content.state.value.data.count) bytes, 1 retried, 1 resumed"))
    }

    @Test func `a repeatedly killed download completes with the right content`() async throws {
        let content = try ChangingContent(seed: 8)
        let origin = try LoopbackOrigin { content.reply(to: $0) }
        defer { origin.stop() }
        let url = origin.url(for: "/big.png")
        var generator = SeededGenerator(seed: 9)

        for _ in 0..<TestLength.rounds(10, full: 50) {
            content.state.update { $0.stall = Int.random(in: 0..<4 << 20, using: &generator) }
            let killed = try alcedo.start(Self.load + [url.absoluteString])
            // Real time, because a load must survive being killed at any instant. No assertion relies on its progress.
            try await Task.sleep(for: .milliseconds(Int.random(in: 0..<150, using: &generator)))
            killed.process.send(SIGKILL)
            _ = try await killed.outcome()
        }
        content.state.update { $0.stall = nil }
        let last = try await alcedo.run(["load", url.absoluteString])

        #expect(last.status == 0)
        #expect(last.problems == "")
        #expect(try await stored(url) == content.state.value.data)
    }
}
