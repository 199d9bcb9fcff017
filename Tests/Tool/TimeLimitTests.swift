import Alcedo
@testable import AlcedoTool
import AlcedoRuntime
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// `--timeout`, as the limit of making the files of each image.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct TimeLimitTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// A maker that never ends for a file named `slow`, and writes the others.
    private struct Maker: FileMaking {
        let fileExtension = "png"
        let reportsLosses = false

        func make(
            _ request: ImageRequest, with tools: FileTools, into sink: OutputSink,
            progress: @escaping BatchLoad.Progress
        ) async throws -> WrittenImage {
            guard case .file(let path) = request.source else { throw CancellationError() }
            return try await tools.withMemory(of: 1) {
                // A clock that nobody moves: the sleep ends when its task is canceled.
                if path.hasSuffix("slow") { try await ManualClock().sleep(for: .seconds(1)) }
                let output = try await tools.files.run { try sink.write(Data("made".utf8), frame: nil) }
                return WrittenImage(
                    files: [WrittenFile(path: output, size: PixelSize(width: 1, height: 1), byteCount: 4)],
                    layer: .local, bytesIn: 4)
            }
        }
    }

    @Test func `an image that exceeds the time fails, and the others are written`() async throws {
        let clock = ManualClock()
        let output = directory.url.appending(path: "out").path
        let images = ImageList(["slow", "a", "b", "c"].map { .named($0) })
        var report = JobReport(program: "alcedo")
        report.isQuiet = true
        let job = FileJob(
            title: "made", images: images, configuration: .standard(cacheDirectory: nil),
            destination: .directory(output), maker: Maker(), timeout: .seconds(3), maxConcurrentImages: 1,
            report: report, clock: clock)

        async let succeeded = job.run()
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(3))

        #expect(await !succeeded)
        #expect(try FileManager.default.contentsOfDirectory(atPath: output).sorted() == ["a.png", "b.png", "c.png"])
    }

    @Test func `the time begins when a thread is free`() async throws {
        let clock = ManualClock()
        let limit = TimeLimit(.seconds(3), clock: clock, maxConcurrentImages: 1)
        func waiting() -> (work: Task<Void, any Error>, end: AsyncStream<Void>.Continuation) {
            let (ends, end) = AsyncStream<Void>.makeStream()
            let work = Task {
                try await limit.apply {
                    for await _ in ends { return }
                    throw CancellationError()
                }
            }
            return (work, end)
        }
        let first = waiting()
        try await clock.waitForSleepers(count: 1)
        let second = waiting()
        clock.advance(by: .seconds(2))
        first.end.yield()
        try await first.work.value

        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(2))
        second.end.yield()

        try await second.work.value
    }

    @Test func `a result that ends after an interruption counts`() async throws {
        let clock = ManualClock()
        let limit = TimeLimit(.seconds(3), clock: clock, maxConcurrentImages: 1)
        let work = Task {
            try await limit.apply {
                try? await ManualClock().sleep(for: .seconds(1))
                return "written"
            }
        }
        try await clock.waitForSleepers(count: 1)

        work.cancel()

        #expect(try await work.value == "written")
    }

    @Test func `the option limits decoding and encoding, and the status is 1`() async throws {
        let alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
        let files = ["dunes.jpg", "clouds.jpg"].map(SampleImages.path)
        let output = directory.url.appending(path: "out")

        let outcome = try await alcedo.run(
            ["convert", "--format", "png", "--effort", "9", "--timeout", "0.001", "--output", output.path] + files)

        #expect(outcome.status == 1)
        for file in files {
            #expect(outcome.problems.contains("alcedo: \(file): the image took longer than 0.001 s (--timeout)\n"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: output.path) == [])
    }
}
