import Alcedo
@testable import AlcedoTool
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Signals during work that cannot be interrupted.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct InterruptionTests {
    private let directory: TemporaryDirectory
    private let output: URL

    init() throws {
        directory = try TemporaryDirectory()
        output = directory.url.appending(path: "out")
    }

    private static let file = SampleImages.path("dunes.jpg")

    /// Returns the two ends of a pipe that nothing reads.
    private static func pipe() throws -> (outside: Int32, inside: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(Foundation.pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
    func `a signal does not wait for a blocked job`(signal: Int32, status: Int32) async throws {
        let pipe = try Self.pipe()
        defer { close(pipe.outside) }
        let problems = directory.url.appending(path: "problems")
        // A megabyte and a half, which does not fit in the pipe.
        let process = try ChildProcess(
            "alcedo", ["decode", "--no-cache", "--format", "rgba", Self.file, "--output", "-"],
            directory: directory.path,
            input: .file("/dev/null"), output: .descriptor(pipe.inside), problems: .file(problems.path))
        close(pipe.inside)
        var byte = UInt8(0)
        #expect(read(pipe.outside, &byte, 1) == 1)

        process.send(signal)

        #expect(try await process.wait() == status)
        #expect(try String(contentsOf: problems, encoding: .utf8) == "alcedo: interrupted: 0 of 1 written\n")
    }

    @Test func `work is awaited until its grace period ends`() async throws {
        let clock = ManualClock()
        let work = GracePeriodTask<Int>(clock: clock)
        let (gate, opening) = AsyncStream<Void>.makeStream()
        let endless = Task {
            for await _ in gate {}
            return 1
        }

        work.hasBeenStopped(grace: .seconds(1))
        async let value = work.value(of: endless)
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))

        #expect(await value == nil)
        opening.finish()

        let prompt = GracePeriodTask<Int>(clock: clock)
        #expect(await prompt.value(of: Task { 2 }) == 2)
    }

    /// Frames that stop their own animation while the second one is drawn.
    private final class Frames: ImageFrameSource {
        let canvasSize = PixelSize(width: 2, height: 2)
        let frameCount = 1_000_000
        let playCount: Int? = nil
        let cost = 0
        let drawn = Watched(0)
        let animation = Watched<CancellableFrames?>(nil)

        func delay(at index: Int) -> Duration { .milliseconds(10) }

        func rawDelay(at index: Int) -> Duration { .milliseconds(10) }

        func frame(at index: Int) throws -> PixelBuffer {
            drawn.update { $0 += 1 }
            if index == 1 { animation.value?.stop() }
            let pixels = PixelBuffer(size: canvasSize, format: .rgba8, alphaMode: .opaque) { memory, _ in
                for offset in memory.indices { memory[offset] = UInt8(truncatingIfNeeded: index) }
            }
            return try #require(pixels)
        }
    }

    @Test(arguments: [OutputFormat.gif, .webp, .png])
    func `an encoder receives no more frames of a stopped animation`(format: OutputFormat) throws {
        let frames = Frames()
        let animation = CancellableFrames(frames)
        frames.animation.update { $0 = animation }
        let image = DecodedImage(pixels: try frames.frame(at: 0), frames: animation)

        #expect(throws: ImageEncodingError.self) {
            _ = try EncodingOptions(writesAnimations: true).encoder(of: format, defaultQuality: 80).encode(image)
        }
        #expect(frames.drawn.value == 3)
        #expect(animation.isStopped)
        #expect(throws: CancellationError.self) { try animation.frame(at: 2) }
    }

    @Test func `written files are reported, also those written after the signal`() async throws {
        let alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
        let many = Array(repeating: Self.file, count: 400)
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        let run = try alcedo.start(
            ["convert", "--json", "--no-cache", "--jobs", "8", "--format", "webp", "--output", output.path] + many)
        try await run.waitUntil("three files are written") {
            try FileManager.default.contentsOfDirectory(atPath: output.path).count >= 3
        }

        run.process.send(SIGINT)

        let outcome = try await run.outcome()
        let names = try FileManager.default.contentsOfDirectory(atPath: output.path)
        let told = try JSONLines.objects(outcome.output).compactMap { $0["output"] as? String }
        #expect(outcome.status == 130)
        #expect(names.count < 400)
        #expect(told.sorted() == names.map { output.appending(path: $0).path }.sorted())
        #expect(outcome.problems == "alcedo: interrupted: \(names.count) of 400 written\n")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP], [[], ["--json"]])
    func `an interrupted inspect reports its progress`(signal: Int32, options: [String]) async throws {
        let png = try SampleImages.data("tiles.png")
        let origin = try LoopbackOrigin { request in
            let reply = OriginReply.ok(png)
            return request.target == "/stalls.png" ? reply.stalling(at: .beforeHead) : reply
        }
        defer { origin.stop() }
        let alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
        let urls = ["/good.png", "/stalls.png", "/never.png"].map { origin.url(for: $0).absoluteString }

        let program = try alcedo.start(["inspect", "--timeout", "300"] + options + urls)
        try await origin.waitForStalls()
        program.process.send(signal)

        let outcome = try await program.outcome()
        #expect(outcome.status == 128 + signal)
        #expect(outcome.problems == "alcedo: interrupted: 1 of 3 inspected\n")
        #expect(outcome.output.contains("/good.png"))
        #expect(!outcome.output.contains("/stalls.png"))
        #expect(origin.state.requestCount == 2)
    }

    @Test(arguments: [
        ["load", "--list", "-"], ["inspect", "-q", "--list", "-"], ["show", "--list", "-"],
        ["thumbnail", "--size", "9", "--output", "out", "-"],
        ["convert", "--format", "png", "--output", "out", "--list", "-"],
    ])
    func `a command that is reading its input reports its interruption`(words: [String]) async throws {
        let pipe = try Self.pipe()
        defer { close(pipe.inside) }
        let problems = directory.url.appending(path: "problems")
        let process = try ChildProcess(
            "alcedo", words, directory: directory.path, input: .descriptor(pipe.outside),
            output: .file("/dev/null"), problems: .file(problems.path))
        close(pipe.outside)
        // It has read the line once the pipe is empty.
        _ = write(pipe.inside, "a", 1)
        try await eventually(
            {
                var waiting = Int32(1)
                try #require(process.isRunning)
                try #require(ioctl(pipe.inside, UInt(FIONREAD), &waiting) == 0)
                return waiting == 0
            }, "the command does not read its input")

        process.send(SIGINT)

        #expect(try await process.wait() == 130)
        let word = words.contains("-q") ? "" : "alcedo: interrupted\n"
        #expect(try String(contentsOf: problems, encoding: .utf8) == word)
    }

    @Test(arguments: [SIGINT, SIGTERM], [["disk-cache"], ["all", "--only", "Disk", "--pictures"]])
    func `an interrupted benchmark leaves no files behind`(signal: Int32, words: [String]) async throws {
        let bench = Program(name: "alcedo-bench", environment: ["TMPDIR": directory.path])
        let sources = directory.url.appending(path: "pictures")
        for name in ["wallpapers", "web"] {
            try FileManager.default.createDirectory(
                at: sources.appending(path: name), withIntermediateDirectories: true)
        }
        let locations = words.first == "all" ? [sources.path, "--output", output.path] : []
        func files() -> [String] {
            let names = FileManager.default.enumerator(atPath: directory.path)?.compactMap { $0 as? String } ?? []
            return names.filter { $0 != "out" && !$0.hasPrefix("pictures") }
        }

        let program = try bench.start(words + locations)
        try await program.waitUntil("a file is being written") { files().contains { $0.contains("/unfinished/") } }
        program.process.send(signal)

        let outcome = try await program.outcome()
        #expect(outcome.status == 128 + signal)
        #expect(outcome.problems == "alcedo-bench: interrupted\n")
        // A shell removes the files that the process has left.
        try await eventually({ files().isEmpty }, "the benchmark's files stay")
    }

    @Test func `an interrupted benchmark ends its child processes`() async throws {
        let bench = Program(name: "alcedo-bench", environment: ["TMPDIR": directory.path])
        func workers() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
                guard Int(name) != nil, let words = try? Data(contentsOf: URL(filePath: "/proc/\(name)/cmdline"))
                else { return false }
                let text = String(decoding: words, as: UTF8.self)
                return text.contains("--worker") && text.contains(directory.path)
            }
        }

        let program = try bench.start(["disk-cache", "--entries", "1", "--rounds", "0"])
        try await program.waitUntil("a worker runs") { try !workers().isEmpty }
        program.process.send(SIGTERM)

        #expect(try await program.outcome().status == 128 + SIGTERM)
        // A signal ends the workers when their parent has ended.
        try await eventually({ (try? workers())?.isEmpty == true }, "a worker remains")
    }

    @Test(arguments: [
        ["thumbnail", "--size", "9", "--output"], ["convert", "--format", "png", "--output"], ["decode", "--output"],
        ["load", "--output"], ["contact-sheet", "--force", "--output"],
    ])
    func `failures before an interruption are reported`(words: [String]) async throws {
        let origin = try LoopbackOrigin { _ in OriginReply(status: 200).stalling(at: .beforeHead) }
        defer { origin.stop() }
        let alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
        let location = words.first == "contact-sheet" ? directory.url.appending(path: "sheet.png").path : output.path
        let bad = directory.url.appending(path: "bad.gif")
        try Data("no picture".utf8).write(to: bad)

        // One after another.
        let images = [bad.path, "/nowhere/missing.png"] + [origin.url(for: "/a.png").absoluteString]
        let program = try alcedo.start(words + [location, "--jobs", "1", "--timeout", "300"] + images)
        try await origin.waitForStalls()
        program.process.send(SIGINT)

        let outcome = try await program.outcome()
        #expect(outcome.status == 130)
        #expect(outcome.problems.contains("alcedo: interrupted: 0 of 3"))
        #expect(outcome.problems.contains(bad.path))
        #expect(outcome.problems.contains("/nowhere/missing.png"))
    }

    @Test func `Ctrl-backslash ends the process at once without output`() async throws {
        let origin = try LoopbackOrigin { _ in .ok(Data("x".utf8)).stalling(at: .beforeHead) }
        defer { origin.stop() }
        // Swift's crash handler, which is active at terminals, is enabled here too.
        let alcedo = Program(
            name: "alcedo",
            environment: ["XDG_CACHE_HOME": directory.url.path, "SWIFT_BACKTRACE": "enable=yes,color=no"])

        let program = try alcedo.start([
            "load", "--no-cache", "--timeout", "300", origin.url(for: "/a.png").absoluteString,
        ])
        try await origin.waitForStalls()
        program.process.send(SIGQUIT)

        let outcome = try await program.outcome()
        #expect(outcome.status == -SIGQUIT)
        #expect(outcome.problems == "")
    }
}
