import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// The images that `--overlay` draws.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct OverlayOptionTests {
    private let directory: TemporaryDirectory
    private let alcedo: Program
    private let photo: URL
    private let logo: URL
    private let image = DecodedImage.coordinates(PixelSize(width: 120, height: 80))
    private let mark = DecodedImage.coordinates(PixelSize(width: 30, height: 10))

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
        photo = directory.url.appending(path: "photo.png")
        logo = directory.url.appending(path: "logo.png")
        try ImageEncoder.png().encode(image).write(to: photo)
        try ImageEncoder.png().encode(mark).write(to: logo)
    }

    /// Runs a command on the photo, and returns the pixels of its result in RGBA.
    private func made(_ command: String, _ words: [String]) async throws -> PixelBuffer? {
        let output = directory.url.appending(path: "out")
        let outcome = try await alcedo.run(
            [command, photo.path, "--format", "png", "-f", "--output", output.path] + words)
        #expect(outcome.status == 0, "\(words): \(outcome.problems)")
        return try Self.stored(Data(contentsOf: output.appending(path: "photo.png")))
    }

    private static func stored(_ data: Data) throws -> PixelBuffer? {
        let pixels = try CodecRegistry.standard.decode(data).pixels
        return pixels.straightRGBA(rowCount: pixels.height)
    }

    /// Returns the pixels of the processed photo in RGBA.
    private func processed(_ processors: [any ImageProcessing]) throws -> PixelBuffer? {
        try Self.stored(ImageEncoder.png().encode(ImageProcessors.BuiltIn.composition(processors).process(image)))
    }

    @Test func `options describe the overlay that precedes them`() async throws {
        let forms: [([String], any ImageProcessing)] = [
            ([], .overlay(mark.pixels)),
            (
                ["--overlay-position", "bottomRight", "--overlay-offset", "-3,-2"],
                .overlay(mark.pixels, at: .bottomRight, x: -3, y: -2)
            ),
            (
                ["--overlay-position", "25,75", "--overlay-offset", "4,5"],
                .overlay(mark.pixels, at: .focus(x: 0.25, y: 0.75), x: 4, y: 5)
            ),
            (["--overlay-scale", "1.5"], .overlay(mark.pixels, scale: .factor(1.5))),
            (["--overlay-scale", "50%"], .overlay(mark.pixels, scale: .share(0.5))),
            (["--overlay-opacity", "0.5", "--overlay-tile"], .overlay(mark.pixels, isTiled: true, opacity: 0.5)),
            (["--overlay-blend", "multiply"], .overlay(mark.pixels, mode: .multiply)),
            (["--overlay-blend", "destinationOut"], .overlay(mark.pixels, compositing: .destinationOut)),
        ]
        for (words, processor) in forms {
            let found = try await made("convert", ["--overlay", logo.path] + words)
            #expect(try found == processed([processor]), "\(words)")
        }
        let both = try await made(
            "convert",
            ["--overlay", logo.path, "--overlay-tile", "--overlay", logo.path, "--overlay-blend", "difference"])
        let overlays: any ImageProcessing = .overlay([
            .init(mark.pixels, isTiled: true), .init(mark.pixels, mode: .difference),
        ])
        #expect(try both == processed([overlays]))
    }

    @Test(arguments: ["convert", "thumbnail"])
    func `overlays and processors are applied in their order, after the size`(command: String) async throws {
        let words = ["--size", "60", "--processor", "negate"]
        let drawing: any ImageProcessing = .overlay(mark.pixels, at: .topLeft)
        let options = ["--overlay", logo.path, "--overlay-position", "topLeft"]

        let last = try await made(command, words + options)
        let first = try await made(command, options + words)

        #expect(try last == processed([.resize(width: 60), .negate(), drawing]))
        #expect(try first == processed([.resize(width: 60), drawing, .negate()]))
        #expect(last != first)
    }

    @Test func `every frame has the overlay, and colors become sRGB without a reported loss`() async throws {
        let pixels = [UInt8(0), 100, 200].map { DecodedImage.gray(side: 40, level: $0).pixels }
        var animation = DecodedImage(pixels: pixels[0])
        animation.frames = MadeFrames(PixelSize(width: 40, height: 40), pixels.map { ($0, .seconds(1)) })
        let file = directory.url.appending(path: "moving.gif")
        try ImageEncoder.gif().encode(animation).write(to: file)
        let profile = SampleImages.fixture("srgb-profile.jpg").path
        let output = directory.url.appending(path: "out")

        let outcome = try await alcedo.run([
            "convert", file.path, profile, "--format", "png", "--output", output.path, "--overlay", logo.path, "--json",
        ])

        #expect(outcome.status == 0, "\(outcome.problems)")
        let frames = try #require(
            try CodecRegistry.standard.decode(Data(contentsOf: output.appending(path: "moving.png"))).frames)
        #expect(frames.frameCount == 3)
        for index in 0..<3 {
            let frame = try frames.frame(at: index)
            #expect(frame.rgba(0, 0)[0] == [0, 100, 200][index])
            // The top left corner of the overlay.
            let corner = DecodedImage(pixels: mark.pixels).pixels.rgba(0, 0)
            #expect(frame.rgba(5, 15) == corner)
        }
        for line in try JSONLines.objects(outcome.output) {
            #expect((line["lost"] as? [String])?.contains("profile") == false)
        }
    }

    @Test func `an overlay that cannot be read or decoded ends the command before any work`() async throws {
        let text = directory.url.appending(path: "text.png")
        try Data("no image".utf8).write(to: text)
        let output = directory.url.appending(path: "none")
        for (file, problem) in [("/missing.png", "No such file or directory"), (text.path, "\(text.path): ")] {
            let outcome = try await alcedo.run([
                "convert", photo.path, "--format", "png", "--output", output.path, "--overlay", file,
            ])

            #expect(outcome.status == 1)
            #expect(outcome.problems.contains(problem), "\(outcome.problems)")
            #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
            #expect(!FileManager.default.fileExists(atPath: output.path))
        }
    }

    @Test(arguments: [
        ["--overlay-tile"], ["--overlay-opacity", "0.5", "--overlay", "logo.png"], ["--overlay", "-"],
        ["--overlay", "http://127.0.0.1/a.png"], ["--overlay", "a.png", "--overlay-position", "smart"],
        ["--overlay", "a.png", "--overlay-position", "middle"], ["--overlay", "a.png", "--overlay-offset", "3"],
        ["--overlay", "a.png", "--overlay-offset", "3,x"], ["--overlay", "a.png", "--overlay-offset", "70000,0"],
        ["--overlay", "a.png", "--overlay-scale", "0"], ["--overlay", "a.png", "--overlay-scale", "120%"],
        ["--overlay", "a.png", "--overlay-opacity", "1.1"], ["--overlay", "a.png", "--overlay-blend", "brighter"],
        ["--overlay", "a.png", "--overlay-color", "red"],
    ])
    func `an invalid overlay exits with status 2`(words: [String]) async throws {
        let outcome = try await alcedo.run(["convert", photo.path, "--format", "png", "-o", "out"] + words)

        #expect(outcome.status == 2, "\(outcome.problems)")
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
    }

    @Test(arguments: [["--overlay", "a.png"], ["--frame", "0"], ["--near-lossless", "60"]])
    func `the thumbnails of a desktop have no options of their form`(words: [String]) async throws {
        let outcome = try await alcedo.run(["thumbnail", "--freedesktop", photo.path] + words)

        #expect(outcome.status == 2)
        #expect(outcome.problems.hasPrefix("alcedo: --freedesktop does not support \(words[0]); see "))
    }
}
