import Alcedo
import AlcedoHTTP
import AlcedoLibc
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct SwapBackendsTests {
    /// The cells of each run of one stack.
    private func runs(_ stack: String, _ words: [String] = ["--pictures", "3"]) async throws -> [String] {
        let outcome = try await Program(name: "swap-backends").run(["--stack", stack] + words)
        #expect(outcome.status == 0 && outcome.problems == "")
        let names = ["first run", "again", "after a restart"]
        return names.compactMap { name in
            outcome.output.split(separator: "\n").first { $0.hasPrefix(name) }.map {
                $0.dropFirst(name.count).split(separator: "  ").map { $0.filter { $0 != " " } }.joined(separator: " ")
            }
        }
    }

    @Test func `memory alone is empty after a restart`() async throws {
        let runs = try await runs("memory")
        #expect(runs.map { $0.prefix(11) } == ["0of3 - - 3 ", "3of3 - - 0 ", "0of3 - - 3 "])
    }

    @Test(arguments: ["files", "sqlite"])
    func `what is on disk is there after a restart, in files as in a database`(stack: String) async throws {
        let runs = try await runs(stack)
        #expect(runs.first?.hasPrefix("0of3 0of3 - 3 ") == true)
        #expect(Array(runs.dropFirst()) == ["3of3 notasked - 0 0 0", "0of3 3of3 - 0 0 3"])
    }

    @Test func `HTTP answers alone save the network, and nothing else`() async throws {
        let runs = try await runs("responses")
        #expect(runs.first?.hasPrefix("- - 0of3 3 ") == true)
        #expect(Array(runs.dropFirst()) == ["- - 3of3 0 0 3", "- - 3of3 0 0 3"])
    }

    @Test func `a number of its own pictures makes no sense beside others`() async throws {
        let outcome = try await Program(name: "swap-backends").run(["--pictures", "3", Samples.folder.path])
        #expect(outcome.status == 2 && outcome.problems.hasPrefix("swap-backends: --pictures is about its own"))
    }

    @Test func `files come by no network, from folders and patterns too`() async throws {
        let folder = try TemporaryDirectory()
        for name in ["a.png", "b.png"] { try Samples.data("tiles.png").write(to: folder.url.appending(path: name)) }

        for word in [folder.path, "\(folder.path)/*.png"] {
            let runs = try await runs("memory", [word])
            #expect(runs == ["0of2 - - 0 0 2", "2of2 - - 0 0 0", "0of2 - - 0 0 2"])
        }
        #expect(try await runs("responses", [folder.path]).first == "- - notasked 0 0 2")
    }

    @Test func `bytes are those of what servers sent in that run`() async throws {
        let png = try Samples.data("tiles.png")
        let origin = try LoopbackOrigin { request in
            let control = request.target.hasPrefix("/kept") ? "max-age=3600" : "no-store"
            return OriginReply(fields: ["Content-Type": "image/png", "Cache-Control": control], body: png)
        }
        defer { origin.stop() }

        let runs = try await runs("responses", ["/kept.png", "/other.png"].map { origin.url(for: $0).absoluteString })

        #expect(runs.first == "- - 0of2 2 \(2 * png.count) 2")
        #expect(runs.dropFirst().allSatisfy { $0 == "- - 1of2 1 \(png.count) 2" })
    }

    @Test func `an answer that is confirmed, and one that is none, went over the network too`() async throws {
        let png = try Samples.data("tiles.png")
        let origin = try LoopbackOrigin { request in
            if request.target == "/missing.png" { return OriginReply(status: 404, body: Data("none".utf8)) }
            if request.fields["If-None-Match"] == "\"1\"" { return OriginReply(status: 304, fields: ["ETag": "\"1\""]) }
            return OriginReply(fields: ["ETag": "\"1\"", "Cache-Control": "no-cache"], body: png)
        }
        defer { origin.stop() }

        let runs = try await runs("responses", [origin.url(for: "/a.png").absoluteString])
        #expect(runs == ["- - 0of1 1 \(png.count) 1", "- - 1of1 1 0 1", "- - 1of1 1 0 1"])

        let urls = ["/missing.png", "/b.png"].map { origin.url(for: $0).absoluteString }
        let outcome = try await Program(name: "swap-backends").run(["--stack", "memory"] + urls)
        let first = try #require(outcome.output.split(separator: "\n").first { $0.hasPrefix("first run") })
        #expect(outcome.status == 1)
        // 0 of 2 in memory, no disk, no responses; two answers.
        #expect(first.split(separator: " ").dropFirst(2).prefix(6) == ["0", "of", "2", "-", "-", "2"], "\(first)")
    }

    @Test(arguments: ["files", "sqlite", "responses"])
    func `Ctrl-C ends it, and leaves nothing behind`(stack: String) async throws {
        let folder = try TemporaryDirectory()
        let png = try Samples.data("tiles.png")
        let origin = try LoopbackOrigin { request in
            let reply = OriginReply(fields: ["Cache-Control": "max-age=3600"], body: png)
            return request.target == "/good.png" ? reply : reply.stalling(at: .beforeHead)
        }
        defer { origin.stop() }
        let urls = ["/good.png", "/slow.png"].map { origin.url(for: $0).absoluteString }

        let program = try Program(name: "swap-backends", environment: ["TMPDIR": folder.path])
            .start(["--stack", stack] + urls)
        try await origin.waitForStalls()
        program.process.send(SIGINT)
        let outcome = try await program.outcome()

        #expect(outcome.status == 130 && outcome.output == "" && outcome.problems == "")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `a picture that cannot be had is told, and the others go on`() async throws {
        let folder = try TemporaryDirectory()
        try Samples.data("tiles.png").write(to: folder.url.appending(path: "a.png"))
        try Data("no picture".utf8).write(to: folder.url.appending(path: "b.png"))

        let outcome = try await Program(name: "swap-backends").run([
            "--stack", "memory", "--stack", "files", folder.path,
        ])

        #expect(outcome.status == 1)
        #expect(outcome.output.split(separator: "\n").count { $0.hasPrefix("after a restart") } == 2)
        let problems = outcome.problems.split(separator: "\n")
        #expect(problems.count == 2)
        #expect(problems.first?.hasPrefix("swap-backends: memory: \(folder.path)/b.png: ") == true)
    }

    @Test func `a stack that does not exist is explained`() async throws {
        let outcome = try await Program(name: "swap-backends").run(["--stack", "tape"])
        #expect(outcome.status == 2)
        #expect(outcome.problems.hasPrefix("swap-backends: there is no stack 'tape'"))
    }
}
