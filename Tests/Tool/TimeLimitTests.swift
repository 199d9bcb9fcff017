import Alcedo
import AlcedoProgramSupport
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

    /// A maker that ends only when it is canceled for the files named `slow` and `late`, and writes all others. Like an
    /// encoder that cannot be stopped, it writes `late` nevertheless.
    private struct Maker: FileMaking {
        let fileExtension = "png"
        let reportsLosses = false

        func make(
            _ request: ImageRequest, with tools: FileTools, into sink: OutputSink,
            progress: @escaping BatchLoad.Progress
        ) async throws -> WrittenImage {
            guard case .file(let path) = request.source else { throw CancellationError() }
            return try await tools.withMemory(of: 1) { deadline in
                // A clock that nobody moves: the sleep ends when its task is canceled.
                if path.hasSuffix("slow") { try await ManualClock().sleep(for: .seconds(1)) }
                if path.hasSuffix("late") { try? await ManualClock().sleep(for: .seconds(1)) }
                let output = try sink.closing(at: deadline).write(Data("made".utf8), frame: nil)
                return WrittenImage(
                    files: [WrittenFile(path: output, size: PixelSize(width: 1, height: 1), byteCount: 4)],
                    layer: .local, bytesIn: 4)
            }
        }
    }

    @Test(arguments: ["slow", "late"])
    func `an image that exceeds the time fails, and the others are written`(name: String) async throws {
        let clock = ManualClock()
        let output = directory.url.appending(path: "out").path
        let images = ImageList([name, "a", "b", "c"].map { .named($0) })
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
                try await limit.apply { _ in
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
            try await limit.apply { _ in
                try? await ManualClock().sleep(for: .seconds(1))
                return "written"
            }
        }
        try await clock.waitForSleepers(count: 1)

        work.cancel()

        #expect(try await work.value == "written")
    }

    @Test func `a successful result after the time is an error that names the limit`() async throws {
        let clock = ManualClock()
        let limit = TimeLimit(.seconds(3), clock: clock, maxConcurrentImages: 1)
        let work = Task {
            try await limit.apply { _ in
                try? await ManualClock().sleep(for: .seconds(1))
                return "late"
            }
        }
        try await clock.waitForSleepers(count: 1)

        clock.advance(by: .seconds(3))

        let error = await #expect(throws: OutputError.self) { try await work.value }
        #expect(error?.description == "the image took longer than 3.0 s (--timeout)")
    }

    @Test func `nothing is written after the time, and the last file ends the time`() throws {
        let late = TimeLimit.Deadline(.seconds(3))
        try late.beginWriting(isLast: false)
        late.pass()
        let met = TimeLimit.Deadline(.seconds(3))
        try met.beginWriting(isLast: true)
        met.pass()

        #expect(late.isOver)
        #expect(throws: OutputError.self) { try late.beginWriting(isLast: true) }
        #expect(!met.isOver)
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
