import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct ContactSheetTests {
    let directory: TemporaryDirectory
    let alcedo: Program
    let sheet: URL

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
        sheet = directory.url.appending(path: "new/sheet.png")
    }

    private func draw(_ words: [String]) async throws -> Program.Outcome {
        try await alcedo.run(["contact-sheet", "--output", sheet.path] + words)
    }

    private func image(_ url: URL) throws -> DecodedImage {
        try PNGDecoder().decode(Data(contentsOf: url), options: DecodingOptions())
    }

    @Test func `cell size and column count follow the options`() async throws {
        let outcome = try await draw([
            SampleImages.path("dunes.jpg"), SampleImages.path("tiles.png"), SampleImages.path("rings.png"), "--columns",
            "2", "--cell", "50",
        ])

        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        #expect(outcome.output == "contact sheet: \(sheet.path), 136 x 136 pixels, 3 images, 0 failed\n")
        #expect(try image(sheet).size == PixelSize(width: 2 * 62 + 12, height: 2 * 62 + 12))
    }

    @Test func `the default sheet is square with cells of 160 pixels`() async throws {
        let outcome = try await draw([
            SampleImages.path("dunes.jpg"), SampleImages.path("tiles.png"), SampleImages.path("rings.png"),
        ])

        #expect(outcome.status == 0)
        #expect(try image(sheet).size == PixelSize(width: 356, height: 356))
    }

    @Test func `a directory at the sheet's path is reported in one line`() async throws {
        try FileManager.default.createDirectory(at: sheet, withIntermediateDirectories: true)

        let outcome = try await draw([SampleImages.path("tiles.png")])

        #expect(outcome.status == 1)
        #expect(outcome.problems == "alcedo: cannot write \(sheet.path): Is a directory\n")
    }

    @Test func `the sheet equals that of the load command`() async throws {
        let files = [SampleImages.path("dunes.jpg"), SampleImages.path("tiles.png")]
        let output = directory.url.appending(path: "load")

        #expect(try await draw(files).status == 0)
        #expect(try await alcedo.run(["load", "--size", "160", "--output", output.path] + files).status == 0)

        let (ours, theirs) = (try image(sheet), try image(output.appending(path: "contact-sheet.png")))
        #expect(ours.pixels == theirs.pixels)
    }

    @Test func `an unreadable image is reported in one line and leaves an empty cell`() async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let bad = origin.url(for: "/truncated.jpg").absoluteString

        let outcome = try await draw([bad, SampleImages.path("tiles.png")])

        #expect(outcome.status == 1)
        #expect(outcome.problems.hasPrefix("alcedo: \(bad): "))
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
        #expect(outcome.output.hasSuffix(", 2 images, 1 failed\n"))
        let pixels = try image(sheet).pixels
        let middle = pixels.withUnsafeBytes { bytes in
            let offset = 92 * pixels.bytesPerRow + 92 * pixels.format.bytesPerPixel
            return (0..<3).map { bytes[offset + $0] }
        }
        #expect(middle == [78, 40, 40])
    }

    @Test func `without any image no sheet is written`() async throws {
        let outcome = try await draw(["/missing.png"])

        #expect(outcome.status == 1)
        #expect(outcome.output == "")
        #expect(!FileManager.default.fileExists(atPath: sheet.path))
    }

    @Test func `an image is not overwritten, and the size of a sheet is limited`() async throws {
        let own = directory.url.appending(path: "own.png")
        let tiles = try SampleImages.data("tiles.png")
        try tiles.write(to: own)

        let over = try await alcedo.run(["contact-sheet", own.path, "--output", own.path])
        let large = try await draw(Array(repeating: own.path, count: 16) + ["--cell", "4096"])

        #expect(over.status == 1)
        #expect(try Data(contentsOf: own) == tiles)
        #expect(large.status == 1)
        #expect(large.problems.contains("use --cell"))
    }

    @Test func `processors run before the images are fitted`() async throws {
        let outcome = try await draw([SampleImages.path("dunes.jpg"), "--processor", "crop:10x10", "--cell", "50"])
        #expect(outcome.status == 0)
        let pixels = try image(sheet).pixels
        // A small image in the middle of its cell, on the background.
        let corner = pixels.withUnsafeBytes { bytes in
            let offset = 20 * pixels.bytesPerRow + 20 * pixels.format.bytesPerPixel
            return (0..<3).map { bytes[offset + $0] }
        }
        #expect(corner == [32, 36, 40])
    }

    @Test(arguments: [
        [], ["a.png", "--columns", "0"], ["a.png", "--cell", "x"], ["a.png", "--output="], ["a.png", "--rows", "2"],
    ])
    func `an invalid command line exits with status 2`(words: [String]) async throws {
        let outcome = try await alcedo.run(["contact-sheet"] + words)

        #expect(outcome.status == 2)
        #expect(outcome.output == "")
    }
}
