import Alcedo
import AlcedoHTTP
import AlcedoLibc
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct SwapBackendsTests {
    /// Returns the numbers of each run of one stack: images from memory, disk and response cache, server responses,
    /// bytes.
    private func runs(_ stack: String, _ words: [String] = []) async throws -> [[Int]] {
        let outcome = try await Program(name: "swap-backends").run(["--stack", stack] + words)
        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        return numbers(outcome)
    }

    private func numbers(_ outcome: Program.Outcome) -> [[Int]] {
        let names = ["first run", "again", "after a restart"]
        return names.compactMap { name in
            outcome.output.split(separator: "\n").first { $0.hasPrefix(name) }.map {
                $0.dropFirst(name.count).split(separator: " ").compactMap { Int($0) }
            }
        }
    }

    @Test func `a memory cache alone is empty after a restart`() async throws {
        let runs = try await runs("memory")
        #expect(runs.map { $0.prefix(4) } == [[0, 0, 0, 12], [12, 0, 0, 0], [0, 0, 0, 12]])
    }

    @Test(arguments: ["files", "sqlite"])
    func `entries on disk survive a restart, in files and in a database`(stack: String) async throws {
        let runs = try await runs(stack)
        #expect(runs.first?.prefix(4) == [0, 0, 0, 12])
        #expect(Array(runs.dropFirst()) == [[12, 0, 0, 0, 0], [0, 12, 0, 0, 0]])
    }

    @Test func `the response cache alone saves only network transfers`() async throws {
        let runs = try await runs("responses")
        #expect(runs.first?.prefix(4) == [0, 0, 0, 12])
        #expect(Array(runs.dropFirst()) == [[0, 0, 12, 0, 0], [0, 0, 12, 0, 0]])
    }

    @Test func `files are not counted as network transfers`() async throws {
        let directory = try TemporaryDirectory()
        let paths = ["a.png", "b.png"].map { directory.url.appending(path: $0) }
        for path in paths { try SampleImages.data("tiles.png").write(to: path) }

        let runs = try await runs("memory", paths.map(\.path))

        #expect(runs == [[0, 0, 0, 0, 0], [2, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    }

    @Test func `the byte count is that of responses in the same run`() async throws {
        let png = try SampleImages.data("tiles.png")
        let origin = try LoopbackOrigin { request in
            let control = request.target.hasPrefix("/kept") ? "max-age=3600" : "no-store"
            return .ok(png, type: "image/png").setting("Cache-Control", control)
        }
        defer { origin.stop() }

        let runs = try await runs("responses", ["/kept.png", "/other.png"].map { origin.url(for: $0).absoluteString })

        #expect(runs.first == [0, 0, 0, 2, 2 * png.count])
        #expect(runs.count == 3)
        #expect(runs.dropFirst().allSatisfy { $0 == [0, 0, 1, 1, png.count] })
    }

    @Test func `validated responses and those without an image count as network transfers`() async throws {
        let png = try SampleImages.data("tiles.png")
        let origin = try LoopbackOrigin { request in
            if request.target == "/missing.png" { return .status(404) }
            if request.fields["If-None-Match"] == "\"1\"" { return .status(304).setting("ETag", "\"1\"") }
            return .ok(png, type: "image/png").setting("ETag", "\"1\"").setting("Cache-Control", "no-cache")
        }
        defer { origin.stop() }

        let runs = try await runs("responses", [origin.url(for: "/a.png").absoluteString])
        #expect(runs == [[0, 0, 0, 1, png.count], [0, 0, 1, 1, 0], [0, 0, 1, 1, 0]])

        let urls = ["/missing.png", "/b.png"].map { origin.url(for: $0).absoluteString }
        let outcome = try await Program(name: "swap-backends").run(["--stack", "memory"] + urls)
        #expect(outcome.status == 1)
        #expect(numbers(outcome).first == [0, 0, 0, 2, png.count])
    }

    @Test(arguments: ["files", "sqlite", "responses"])
    func `Ctrl-C ends the program and leaves nothing behind`(stack: String) async throws {
        let directory = try TemporaryDirectory()
        let png = try SampleImages.data("tiles.png")
        let origin = try LoopbackOrigin { request in
            let reply = OriginReply.ok(png, type: "image/png").setting("Cache-Control", "max-age=3600")
            return request.target == "/good.png" ? reply : reply.stalling(at: .beforeHead)
        }
        defer { origin.stop() }
        let urls = ["/good.png", "/slow.png"].map { origin.url(for: $0).absoluteString }

        let program = try Program(name: "swap-backends", environment: ["TMPDIR": directory.path])
            .start(["--stack", stack] + urls)
        try await origin.waitForStalls()
        program.process.send(SIGINT)
        let outcome = try await program.outcome()

        #expect(outcome.status == 130)
        #expect(outcome.output == "")
        #expect(outcome.problems == "")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func `a failed image is reported, and the others load`() async throws {
        let directory = try TemporaryDirectory()
        let (good, bad) = (directory.url.appending(path: "a.png"), directory.url.appending(path: "b.png"))
        try SampleImages.data("tiles.png").write(to: good)
        try Data("no picture".utf8).write(to: bad)

        let outcome = try await Program(name: "swap-backends").run([
            "--stack", "memory", "--stack", "files", bad.path, good.path,
        ])

        #expect(outcome.status == 1)
        #expect(outcome.output.split(separator: "\n").count { $0.hasPrefix("after a restart") } == 2)
        #expect(numbers(outcome).dropFirst().first == [1, 0, 0, 0, 0])
        let problems = outcome.problems.split(separator: "\n")
        #expect(problems.count == 2)
        #expect(problems.first?.hasPrefix("swap-backends: memory: \(directory.path)/b.png: ") == true)
    }

    @Test func `an unknown stack is explained`() async throws {
        let outcome = try await Program(name: "swap-backends").run(["--stack", "tape"])
        #expect(outcome.status == 2)
        #expect(outcome.problems.hasPrefix("swap-backends: unknown stack 'tape'"))
    }
}
