import AlcedoLibc
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct ShowTests {
    private let directory: TemporaryDirectory
    private let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    @Test(arguments: [("kitty", "\u{1B}_Ga=T,f=24,s=128,v=128,C=1,"), ("sixel", "\u{1B}P0;1;0q\"1;1;128;128")])
    func `a protocol can be chosen, also without a terminal`(name: String, text: String) async throws {
        let outcome = try await alcedo.run(["show", SampleImages.path("tiles.gif"), "--protocol", name])

        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        #expect(outcome.output.contains(text))
    }

    @Test func `several images have their names, and a failed one does not stop the others`() async throws {
        let outcome = try await alcedo.run([
            "show", SampleImages.path("tiles.png"), "missing.png", SampleImages.path("rings.png"), "--width", "10",
        ])

        #expect(outcome.status == 1)
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 13)
        #expect(lines[0] == SampleImages.path("tiles.png"))
        #expect(lines[6] == "missing.png")
        #expect(outcome.problems.hasPrefix("alcedo: missing.png: "))
    }

    @Test func `the images of a directory are shown by name`() async throws {
        for name in ["b.png", "a.PNG"] {
            try SampleImages.data("tiles.png").write(to: directory.url.appending(path: name))
        }
        try Data("no image".utf8).write(to: directory.url.appending(path: "notes.txt"))

        let outcome = try await alcedo.run(["show", directory.url.path, "--width", "8"])

        #expect(outcome.status == 0)
        let names = outcome.output.split(separator: "\n").filter { $0.hasPrefix("/") }.map { $0.suffix(5) }
        #expect(names == ["a.PNG", "b.png"])
    }

    @Test(arguments: [
        ["--protocol", "ascii"], ["--loops", "0"], ["--loops"], [], [""], ["--width=0", "x.png"],
    ])
    func `an invalid command line is a usage error`(words: [String]) async throws {
        #expect(try await alcedo.run(["show"] + words).status == 2)
    }

    @Test func `a directory without images is a usage error`() async throws {
        #expect(try await alcedo.run(["show", directory.url.path]).status == 2)
    }

    // MARK: In a terminal

    private func start(
        _ arguments: [String], in terminal: PseudoTerminal, environment: [String: String] = [:]
    ) throws -> ChildProcess {
        try ChildProcess(
            "alcedo", ["show"] + arguments,
            environment: ["XDG_CACHE_HOME": directory.url.path, "TERM": "xterm-256color", "NO_COLOR": ""]
                .merging(environment) { $1 },
            directory: directory.path, input: .descriptor(terminal.inside), output: .descriptor(terminal.inside),
            problems: .file(directory.url.appending(path: "problems").path), hasOwnGroup: true)
    }

    @Test func `the terminal is queried and shows pixels if it can`() async throws {
        let terminal = try PseudoTerminal()
        try terminal.resize(columns: 80, rows: 24)
        // Before the query, so that the time limit does not elapse on a slow machine.
        try terminal.type("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[6;20;10t\u{1B}[?62c")
        let process = try start([SampleImages.path("tiles.gif")], in: terminal)

        let text = try await terminal.read(until: "\u{1B}[?25h")

        #expect(try await process.wait() == 0)
        #expect(text.contains("a=T,f=24,s=128,v=128,i="))
    }

    @Test func `Ctrl-C ends an endless animation and restores the cursor`() async throws {
        let terminal = try PseudoTerminal()
        try terminal.resize(columns: 80, rows: 24)
        let process = try start(
            [try Self.endlessAnimation(in: directory).path, "--protocol", "blocks", "--color", "256"], in: terminal)
        // Drawn and overwritten.
        let before = try await terminal.read(until: "\u{1B}[1A")

        kill(process.id, SIGINT)
        _ = try await terminal.read(until: "\u{1B}[?25h")

        #expect(try await process.wait() == 130)
        #expect(before.hasPrefix("\u{1B}[?25l"))
    }

    @Test func `a second signal restores the cursor, too`() async throws {
        let animation = try Self.endlessAnimation(in: directory).path
        // The order of the two ends is a race.
        for _ in 0..<5 {
            let terminal = try PseudoTerminal()
            try terminal.resize(columns: 80, rows: 24)
            let process = try start([animation, "--protocol", "blocks", "--color", "256"], in: terminal)
            _ = try await terminal.read(until: "\u{1B}[1A")

            kill(process.id, SIGINT)
            kill(process.id, SIGTERM)

            #expect([130, 143].contains(try await process.wait()))
            // Returns as an echo after everything that the process has written.
            try terminal.type("end")
            let text = try await terminal.read(until: "end")
            #expect(text.contains("\u{1B}[?25h"))
        }
    }

    @Test func `Ctrl-backslash restores the cursor, too`() async throws {
        let terminal = try PseudoTerminal()
        try terminal.resize(columns: 80, rows: 24)
        let process = try start(
            [try Self.endlessAnimation(in: directory).path, "--protocol", "blocks", "--color", "256"], in: terminal)
        _ = try await terminal.read(until: "\u{1B}[1A")

        kill(process.id, SIGQUIT)

        #expect(try await process.wait() == -SIGQUIT)
        try terminal.type("end")
        #expect(try await terminal.read(until: "end").contains("\u{1B}[?25h"))
    }

    @Test func `a second signal during the terminal query restores the echo`() async throws {
        for _ in 0..<5 {
            let terminal = try PseudoTerminal()
            try terminal.resize(columns: 80, rows: 24)
            let process = try start([SampleImages.path("tiles.gif")], in: terminal)
            _ = try await terminal.read(until: "\u{1B}[c")

            kill(process.id, SIGINT)
            kill(process.id, SIGTERM)

            #expect([130, 143].contains(try await process.wait()))
            var settings = termios()
            try #require(tcgetattr(terminal.inside, &settings) == 0)
            #expect(settings.c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON))
        }
    }

    @Test func `Ctrl-Z restores the cursor, and continuing hides it`() async throws {
        let terminal = try PseudoTerminal()
        try terminal.resize(columns: 80, rows: 24)
        let process = try start(
            [try Self.endlessAnimation(in: directory).path, "--protocol", "blocks", "--color", "256"], in: terminal)
        _ = try await terminal.read(until: "\u{1B}[1A")

        kill(process.id, SIGTSTP)
        _ = try await terminal.read(until: "\u{1B}[?25h")
        // It stops a moment after that. If it were continued earlier, it would stop forever.
        try await process.waitUntilStopped()
        kill(process.id, SIGCONT)
        _ = try await terminal.read(until: "\u{1B}[?25l")
        // It continues to play.
        _ = try await terminal.read(until: "\u{1B}[1A")

        kill(process.id, SIGINT)
        _ = try await terminal.read(until: "\u{1B}[?25h")
        #expect(try await process.wait() == 130)
    }

    @Test func `an animation that began in a small terminal grows with it`() async throws {
        let terminal = try PseudoTerminal()
        try terminal.resize(columns: 8, rows: 5)
        let process = try start(
            [try Self.endlessAnimation(in: directory, side: 128).path, "--protocol", "sixel"], in: terminal)
        _ = try await terminal.read(until: "\"1;1;80;80")

        try terminal.resize(columns: 80, rows: 24)
        kill(process.id, SIGWINCH)
        _ = try await terminal.read(until: "\"1;1;128;128")

        kill(process.id, SIGINT)
        _ = try await terminal.read(until: "\u{1B}[?25h")
        #expect(try await process.wait() == 130)
    }

    /// Returns an endless GIF of two frames of a pixel each in the corner of a square, 20 ms apart. Source: GIF89a.
    private static func endlessAnimation(in directory: TemporaryDirectory, side: UInt8 = 1) throws -> URL {
        var bytes: [UInt8] = Array("GIF89a".utf8) + [side, 0, side, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
        bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
        for image in [0x44, 0x4C] as [UInt8] {
            bytes += [0x21, 0xF9, 4, 4, 2, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, image, 1, 0]
        }
        let file = directory.url.appending(path: "endless.gif")
        try Data(bytes + [0x3B]).write(to: file)
        return file
    }
}
