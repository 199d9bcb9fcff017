import TestSupport
import AlcedoTesting
import Foundation
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct ShowOutputTests {
    let directory: TemporaryDirectory
    let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    @Test func `an image is drawn in half blocks of 24-bit color`() async throws {
        let file = SampleImages.path("dunes.jpg")

        let outcome = try await alcedo.run(["show", file, "--color", "truecolor", "--width", "30"])

        #expect(outcome.status == 0)
        let lines = outcome.output.split(separator: "\n")
        // 30 x 20 pixels, two vertically in a cell.
        #expect(lines.count == 10)
        #expect(lines.allSatisfy { $0.hasPrefix("\u{1B}[38;2;") && $0.hasSuffix("\u{1B}[0m") })
        #expect(lines.allSatisfy { $0.filter { $0 == "▀" }.count == 30 })
    }

    @Test func `without a terminal no escape code is written`() async throws {
        let file = SampleImages.path("rings.png")

        let outcome = try await alcedo.run(["show", file, "--width", "20"])

        #expect(outcome.status == 0)
        #expect(!outcome.output.contains("\u{1B}"))
        #expect(outcome.output.split(separator: "\n", omittingEmptySubsequences: false).count == 11)
    }

    @Test func `an image from the network is on disk when the process has ended`() async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let url = origin.url(for: "/good.png").absoluteString

        let shown = try await alcedo.run(["show", url])
        let loaded = try await alcedo.run(["load", url])

        #expect(shown.status == 0)
        #expect(loaded.rows(url).map { $0[0] } == ["disk"])
    }

    @Test func `unwritable output is an error`() async throws {
        let file = SampleImages.path("tiles.png")

        let outcome = try await Program(name: "alcedo", outputPath: "/dev/full").run(["show", file])

        #expect(outcome.status == 1)
    }

    @Test func `data that is not an image is reported in one line`() async throws {
        let file = directory.url.appending(path: "page.png")
        try Data("<html>".utf8).write(to: file)

        let outcome = try await alcedo.run(["show", file.path])

        #expect(outcome.status == 1)
        #expect(outcome.output == "")
        #expect(outcome.problems.hasPrefix("alcedo: \(file.path): cannot decode the data: "))
        #expect(outcome.problems.contains("the data is text"))
    }
}
