import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct ProgressTests {
    @Test func `a terminal shows files, bytes and rate and is cleared at the end`() async throws {
        let directory = try TemporaryDirectory()
        let content = try ChangingContent(seed: 1, stall: 2 << 20)
        let origin = try LoopbackOrigin { content.reply(to: $0) }
        defer { origin.stop() }
        let terminal = try PseudoTerminal()
        let process = try ChildProcess(
            "alcedo",
            ["load", "--no-cache", "--verbose", "--timeout", "300", origin.url(for: "/big.png").absoluteString],
            directory: directory.path, input: .file("/dev/null"), output: .file("/dev/null"),
            problems: .descriptor(terminal.inside))

        let before = try await terminal.read(until: " of 4095 KiB, ")
        origin.release()
        let after = try await terminal.read(until: "exchanges: 1, ")

        #expect(try await process.wait() == 0)
        #expect(before.contains("░ 0/1 images, "))
        #expect(before.contains(" KiB/s"))
        // A log line replaces the progress line.
        #expect(after.contains("\r\u{1B}[K\(origin.url.absoluteString)/big.png: 200, "))
    }

    @Test(arguments: [30, 50])
    func `a narrow terminal shows fewer whole words`(columns: Int) async throws {
        let directory = try TemporaryDirectory()
        let terminal = try PseudoTerminal()
        try terminal.resize(columns: columns, rows: 24)
        let files = ["dunes.jpg", "tiles.png"].map(SampleImages.path)
        let process = try ChildProcess(
            "alcedo", ["thumbnail", "--size", "9", "--no-cache", "--output", directory.path] + files,
            directory: directory.path, input: .file("/dev/null"), output: .file("/dev/null"),
            problems: .descriptor(terminal.inside))

        let seen = try await terminal.read(until: " 2/2 images")

        #expect(try await process.wait() == 0)
        // The last line may not have been read completely.
        let lines = seen.split(separator: "\r\u{1B}[K").dropLast()
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(line.count < columns)
            #expect(["images", "images/s", "left", " KiB", " KiB/s"].contains { line.hasSuffix($0) }, "\(line)")
        }
    }

    @Test func `local files have a rate`() async throws {
        let directory = try TemporaryDirectory()
        let file = SampleImages.directory.appending(path: "dunes.jpg")
        let byteCount = try Data(contentsOf: file).count
        // Equal files would be read once.
        let files = (0..<40).map { directory.url.appending(path: "\($0).jpg").path }
        for path in files { try FileManager.default.copyItem(atPath: file.path, toPath: path) }
        let terminal = try PseudoTerminal()
        let start = ContinuousClock.now
        let process = try ChildProcess(
            "alcedo", ["load", "--no-cache", "--no-sheet"] + files, directory: directory.path,
            input: .file("/dev/null"), output: .file("/dev/null"), problems: .descriptor(terminal.inside))

        var seen = try await terminal.read(until: "40/40 images")
        // Usually the line arrives complete.
        let line = /40\/40 images, (\d+)(?: of (\d+))? KiB, (\d+) KiB\/s/
        if !seen.contains(line) { seen += try await terminal.read(until: "KiB/s") }
        let seconds = max(0.25, (ContinuousClock.now - start) / .seconds(1))

        #expect(try await process.wait() == 0)
        let last = try #require(seen.matches(of: line).last)
        #expect(Int(last.1) == 40 * byteCount / 1024)
        // The rate covers the last three seconds.
        if seconds < 3 { #expect(Double(last.3) ?? 0 >= Double(40 * byteCount / 1024) / seconds - 1) }
        #expect(Int(last.3) ?? 0 > 0)
    }

    @Test func `an error replaces the progress line, which is then drawn again`() async throws {
        let directory = try TemporaryDirectory()
        let origin = try LoopbackOrigin { _ in OriginReply(status: 200).stalling(at: .beforeHead) }
        defer { origin.stop() }
        let terminal = try PseudoTerminal()
        let process = try ChildProcess(
            "alcedo", ["inspect", "--timeout", "300", "/missing.png", origin.url(for: "/a.png").absoluteString],
            directory: directory.path, input: .file("/dev/null"), output: .file("/dev/null"),
            problems: .descriptor(terminal.inside))

        try await origin.waitForStalls()
        let seen = try await terminal.read(until: "1/2 images")
        process.send(SIGINT)
        _ = try await terminal.read(until: "interrupted: 1 of 2 inspected\r\n")

        #expect(try await process.wait() == 130)
        // At the beginning of a line, whatever was there.
        let problem = try #require(seen.range(of: "alcedo: /missing.png"))
        #expect(seen[..<problem.lowerBound].hasSuffix("\r\u{1B}[K"))
    }

    @Test func `JSON objects on a terminal are not mixed with progress`() async throws {
        let directory = try TemporaryDirectory()
        let terminal = try PseudoTerminal()
        let files = ["dunes.jpg", "tiles.png"].map(SampleImages.path)
        let process = try ChildProcess(
            "alcedo", ["load", "--json", "--no-cache", "--output", directory.path] + files, directory: directory.path,
            input: .file("/dev/null"), output: .descriptor(terminal.inside), problems: .descriptor(terminal.inside))

        let seen = try await terminal.read(until: "/contact-sheet.png\"")

        #expect(try await process.wait() == 0)
        #expect(!seen.contains("\u{1B}"))
        #expect(!seen.contains("images"))
    }
}
