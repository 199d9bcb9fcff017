import AlcedoLibc
import AlcedoProgramSupport
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

/// The program as a user runs it.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct ProgramTests {
    private let program = Program(name: "thumbnail-server")

    @Test(arguments: [
        ["--what"], ["here"], ["--listen", "8080"], ["--listen", "127.0.0.1:99999"], ["--allow", "ftp://a"],
        ["--key", "/nowhere"], ["--sign", "/thumbnail?w=1"], ["--max-side", "0"], ["--timeout", "soon"], ["--cache"],
        ["--help=yes"], ["--redis", "nowhere"],
    ])
    func `an invalid command line exits with status 2`(words: [String]) async throws {
        let outcome = try await program.run(words)
        #expect(outcome.status == 2)
        #expect(outcome.problems.hasPrefix("thumbnail-server: "))
    }

    @Test func `help names every option`() async throws {
        let outcome = try await program.run(["--help"])
        #expect(outcome.status == 0)
        #expect(outcome.output == ServerOptions.help)
    }

    @Test func `an unavailable address exits with status 1`() async throws {
        let outcome = try await program.run(["--listen", "192.0.2.1:80", "--no-cache"])
        #expect(outcome.status == 1)
        #expect(outcome.problems.hasPrefix("thumbnail-server: cannot listen on 192.0.2.1, port 80"))
    }

    @Test(arguments: [
        (300, "accepting at most "), (30, "the limit of open files is 30, and the server needs at least "),
    ])
    func `a low limit of open files is reported`(limit: Int, message: String) async throws {
        let path = try ChildProcess.path(of: "thumbnail-server")
        let outcome = try await Program(name: "/bin/sh").run([
            "-c", "ulimit -n \(limit) && exec \"$0\" --listen 192.0.2.1:80 --no-cache", path,
        ])
        #expect(outcome.status == 1)
        #expect(outcome.problems.hasPrefix("thumbnail-server: \(message)"))
    }

    @Test func `a program that cannot read its command line exits with status 1`() async {
        let result = await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            AlcedoProgramSupport.ExitStatus.end("thumbnail-server", arguments: []) { .success }
        }
        let problems = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(problems == "thumbnail-server: cannot read the command line, because /proc is not mounted\n")
    }

    @Test func `lines of libraries are not written between those of a program`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Console.discardLibraryMessages()
            perror("a library")
            Console.notice("thumbnail-server: a notice")
        }
        #expect(String(decoding: result?.standardErrorContent ?? [], as: UTF8.self) == "thumbnail-server: a notice\n")
    }

    @Test(.enabled(if: !keepsFreedMemory && !recordsAccesses, "sanitizers end the process in another way"))
    func `the reason for which a program ends is written`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Console.discardLibraryMessages()
            fatalError("the last words")
        }
        let problems = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(problems.contains("the last words"))
    }

    @Test func `a key signs on the command line, and a short key is refused`() async throws {
        let directory = try TemporaryDirectory()
        let key = directory.url.appending(path: "key")
        try Data("0123456789abcdef\n".utf8).write(to: key)
        try #require(chmod(key.path, 0o600) == 0)
        let target = "/thumbnail?url=https://a.test/x&w=1"
        let signed = try URLSignature(key: Array("0123456789abcdef".utf8)).signed(target)
        let outcome = try await program.run(["--key", key.path, "--sign", target])
        #expect(outcome.status == 0)
        #expect(outcome.output == "\(signed)\n")
        #expect(try await program.run(["--key", key.path, "--sign", "/thumbnail?w=1"]).status == 2)
        try Data("0123456789abcde\n".utf8).write(to: key)
        try #require(chmod(key.path, 0o600) == 0)
        #expect(try await program.run(["--key", key.path]).status == 2)
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal ends the server normally`(number: Int32) async throws {
        let running = try program.start(["--listen", "127.0.0.1:0", "--no-cache", "--no-sandbox"])
        try await running.waitUntil("the server listens") { try running.outputSoFar.hasSuffix("\n") }
        running.process.send(number)
        let outcome = try await running.outcome()
        #expect(outcome.status == 0)
        #expect(outcome.problems.hasPrefix("thumbnail-server: the sandbox is off: --no-sandbox was given"))
        #expect(outcome.problems.split(separator: "\n").count == 1)
        #expect(outcome.output.hasPrefix("listening on http://127.0.0.1:"))
    }
}
