import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Options that all commands share.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct ToolOptionTests {
    private let directory: TemporaryDirectory
    private let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    private static let file = SampleImages.path("tiles.png")

    private static let commands = [
        "load", "inspect", "decode", "convert", "thumbnail", "contact-sheet", "show", "cache",
    ]

    private static let writers = [
        ["load", "--output"], ["decode", "--output"], ["convert", "--format", "png", "--output"],
        ["thumbnail", "--size", "9", "--output"],
    ]

    @Test(arguments: commands)
    func `help fits the line width`(command: String) async throws {
        let words = command.split(separator: " ").map(String.init)
        let help = try await alcedo.run(words + ["--help"])

        #expect(help.status == 0)
        #expect(help.problems == "")
        #expect(help.output.hasPrefix("usage: alcedo \(command)"))
        #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 124 })
        let all = try await alcedo.run(["--help"])
        #expect(all.output.contains("alcedo \(command)"))
    }

    @Test(arguments: commands)
    func `common options have the same text and order`(command: String) async throws {
        let help = try await alcedo.run([command, "--help"]).output
        var shared = [
            "--force, -f", "--json", "--quiet, -q", "--processor", "--list FILE", "--null, -0", "--max-pixels N",
            "--max-decoded MIB", "--partial", "--strict", "--cache DIR", "--retry N",
        ]
        if command == "show" { shared = Array(shared.dropFirst(4)) }
        if command == "inspect" { shared = Array(shared.dropFirst(4).filter { $0 != "--cache DIR" }) }
        if command == "cache" { shared = [] }

        var rest = help[...]
        for option in shared {
            let location = try #require(rest.range(of: "\n  \(option)"), "\(option)")
            rest = rest[location.upperBound...]
        }
        #expect(help.contains("--quiet, -q"))
        #expect(help.contains("--json") || command == "show")
    }

    @Test(arguments: ["load", "cache"])
    func `help is available as a command, too`(command: String) async throws {
        let words = command.split(separator: " ").map(String.init)
        #expect(try await alcedo.run(["help"] + words).output == alcedo.run(words + ["--help"]).output)
    }

    @Test(arguments: ["", "relative"])
    func `without a home directory images load without a disk cache`(home: String) async throws {
        // Nothing can be created there by any user.
        let nowhere = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": home, "HOME": "/dev/null/home"])
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }

        let outcome = try await nowhere.run(["load", "--no-sheet", origin.url(for: "/good.png").absoluteString])

        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
    }

    @Test func `a result is named after its file or after the plain part of its URL`() async throws {
        let png = try SampleImages.data("tiles.png")
        let origin = try LoopbackOrigin { _ in OriginReply(body: png) }
        defer { origin.stop() }
        let long = String(repeating: "я", count: 120)
        let names = ["кот", "my photo", "what?#x", "new\nline", "a+0000", "c++", long].map { "\($0).png" }
        for name in names { try png.write(to: directory.url.appending(path: name)) }
        let urls = ["/my%20photo.png", "/%2e%2e%2fup.png?x=y.png"].map {
            origin.url(for: "/").absoluteString.dropLast() + $0
        }
        let output = directory.url.appending(path: "out")

        let outcome = try await alcedo.run(
            ["thumbnail", "--size", "9", "--format", "png", "-o", output.path] + names.map { "\(directory.path)/\($0)" }
                + urls.map(String.init))

        #expect(outcome.status == 0, "\(outcome.problems)")
        let written = try FileManager.default.contentsOfDirectory(atPath: output.path)
        let cut = String(long.prefix(100))
        #expect(
            Set(written)
                == Set(
                    ["кот", "my photo", "what?#x", "new_line", "a_0000", "c++", cut, "myphoto", "up"].map {
                        "\($0).png"
                    }))
    }

    @Test func `the option --version prints the version of the changelog`() async throws {
        let changelog = try String(
            contentsOf: SampleImages.directory.appending(path: "../../../CHANGELOG.md").standardized, encoding: .utf8)
        let first = try #require(changelog.split(separator: "\n").first { $0.hasPrefix("## ") })

        let outcome = try await alcedo.run(["--version"])

        #expect(outcome.status == 0)
        let version = try #require(outcome.output.split(whereSeparator: \.isWhitespace).last)
        #expect(first.contains(version))
    }

    @Test(arguments: writers.indices)
    func `scripts receive one object per line, for successes and failures`(index: Int) async throws {
        let bad = "\(directory.path)/a \"missing\"\n.png"
        let command = Self.writers[index]

        let outcome = try await alcedo.run(command + ["\(directory.path)/out", "--json", Self.file, bad])

        #expect(outcome.status == 1)
        #expect(outcome.problems == "")
        let objects = try JSONLines.objects(outcome.output)
        #expect(objects.count == (command[0] == "load" ? 3 : 2))
        let keys: Set = [
            "input", "output", "frame", "width", "height", "bytes", "layer", "lost", "damage", "damageMessage", "error",
            "skipped",
        ]
        #expect(objects.allSatisfy { Set($0.keys) == keys })
        let good = try #require(objects.first { $0["input"] as? String == Self.file })
        #expect(good["layer"] as? String == "local")
        #expect(good["bytes"] as? Int == 2913)
        #expect(good["error"] is NSNull)
        // `load` does not search for it.
        #expect(command[0] == "load" ? good["lost"] is NSNull : good["lost"] is [String])
        #expect(FileManager.default.fileExists(atPath: try #require(good["output"] as? String)))
        let failed = try #require(objects.first { ($0["error"] as? String) != nil })
        #expect(failed["output"] is NSNull)
        #expect(failed["layer"] is NSNull)
    }

    @Test func `scripts receive the sheet's object, too`() async throws {
        let sheet = directory.url.appending(path: "sheet.png")
        let outcome = try await alcedo.run(["contact-sheet", Self.file, Self.file, "--json", "-o", sheet.path])

        let objects = try JSONLines.objects(outcome.output)
        #expect(outcome.status == 0)
        #expect(objects.count == 3)
        #expect(objects.last?["output"] as? String == sheet.path)
        #expect(objects.last?["input"] is NSNull)
    }

    @Test(arguments: writers.indices)
    func `quiet prints errors only`(index: Int) async throws {
        let command = Self.writers[index]
        let good = try await alcedo.run(command + ["\(directory.path)/good", "--quiet", Self.file])
        #expect(good.status == 0)
        #expect(good.output == "")
        #expect(good.problems == "")

        let bad = try await alcedo.run(command + ["\(directory.path)/bad", "-q", "/missing.png"])
        #expect(bad.status == 1)
        #expect(bad.output == "")
        #expect(bad.problems == "alcedo: /missing.png: cannot read /missing.png: No such file or directory\n")
    }

    @Test(arguments: [["inspect", "-q"], ["cache", "stat", "-q"]])
    func `quiet commands that only report print nothing`(words: [String]) async throws {
        let outcome = try await alcedo.run(words + (words[0] == "inspect" ? [Self.file] : []))
        #expect(outcome.status == 0)
        #expect(outcome.output == "")
        #expect(outcome.problems == "")
    }

    @Test(arguments: commands.dropLast(2))
    func `piped output contains no escape sequences`(command: String) async throws {
        let options = [
            "decode": ["--output", "out"], "convert": ["--format", "png", "--output", "out"],
            "thumbnail": ["--size", "9", "--output", "out"],
        ]
        let outcome = try await alcedo.run([command, Self.file, "/missing.png"] + (options[command] ?? []))

        #expect(outcome.status == 1)
        #expect(!(outcome.output + outcome.problems).contains("\u{1B}"))
        #expect(!(outcome.output + outcome.problems).contains("\r"))
    }

    @Test(arguments: [("", "xterm", true), ("1", "xterm", false), ("", "dumb", false)])
    func `errors are colored on a terminal that supports it`(noColor: String, kind: String, isRed: Bool) async throws {
        let terminal = try PseudoTerminal()
        let process = try ChildProcess(
            "alcedo", ["inspect", "--quiet", "/missing.png"], environment: ["NO_COLOR": noColor, "TERM": kind],
            directory: directory.path, input: .file("/dev/null"), output: .file("/dev/null"),
            problems: .descriptor(terminal.inside))

        let seen = try await terminal.read(until: "No such file or directory\r\n")

        #expect(try await process.wait() == 1)
        #expect(seen.contains("\u{1B}[31malcedo: \u{1B}[0m/missing.png") == isRed)
        #expect(seen.contains("\u{1B}") == isRed)
    }

    @Test func `a terminal shows the remaining time, and quiet shows nothing`() async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        for isQuiet in [false, true] {
            let terminal = try PseudoTerminal()
            let process = try ChildProcess(
                "alcedo",
                ["thumbnail", "--size", "9", "--jobs", "1", "--output", "\(directory.path)/\(isQuiet)"]
                    + (isQuiet ? ["--quiet"] : []) + [Self.file, Self.file, "/missing.png"],
                environment: ["TERM": "xterm", "NO_COLOR": "1"], directory: directory.path, input: .file("/dev/null"),
                output: .file("/dev/null"), problems: .descriptor(terminal.inside))

            let seen = try await terminal.read(until: "No such file or directory\r\n")

            #expect(try await process.wait() == 1)
            #expect(seen.contains(" images/s, 0:0") == !isQuiet)
            #expect(seen.contains("\r\u{1B}[K") == !isQuiet)
        }
    }

    @Test func `a sheet of many images has smaller cells, and an oversized one suggests a size`() async throws {
        let names = Data(String(repeating: "/missing.png\n", count: 4_999).utf8) + Data(Self.file.utf8)
        let sheet = directory.url.appending(path: "sheet.png")

        let outcome = try await alcedo.run(["contact-sheet", "--list", "-", "--json", "-o", sheet.path], input: names)
        let large = try await alcedo.run(["contact-sheet", "--list", "-", "--cell", "160"], input: names)

        #expect(outcome.status == 1)
        let size = try CodecRegistry.standard.inspect(Data(contentsOf: sheet)).size
        #expect(size.pixelCount <= 64 << 20)
        #expect(size.pixelCount > 60 << 20)
        #expect(abs(size.width - size.height) < 200)
        #expect(large.status == 1)
        #expect(large.problems.hasSuffix("use --cell 103\n"))
    }
}
