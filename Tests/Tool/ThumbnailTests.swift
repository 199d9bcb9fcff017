import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct ThumbnailTests {
    let directory: TemporaryDirectory
    let alcedo: Program
    let output: URL

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
        output = directory.url.appending(path: "thumbnails")
    }

    private func thumbnail(_ words: [String]) async throws -> Program.Outcome {
        try await alcedo.run(["thumbnail", "--size", "100", "--output", output.path] + words)
    }

    private func info(_ name: String) throws -> ImageInfo {
        try CodecRegistry.standard.inspect(Data(contentsOf: output.appending(path: name)))
    }

    @Test(arguments: [("jpeg", "jpg"), ("png", "png"), ("webp", "webp")])
    func `files and URLs become thumbnails of the requested format`(format: String, name: String) async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let file = SampleImages.path("turned.jpg")

        let outcome = try await thumbnail([file, origin.url(for: "/good.png").absoluteString, "--format", format])

        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        #expect(outcome.output.hasPrefix("thumbnails: 2 written, 0 failed, "))
        #expect(outcome.output.contains(" images/s\n"))
        #expect(try info("turned.\(name)").size == PixelSize(width: 100, height: 67))
        #expect(try info("good.\(name)").size == PixelSize(width: 100, height: 100))
        #expect(try info("good.\(name)").format.rawValue == format)
    }

    @Test func `the summary counts the bytes`() async throws {
        let file = SampleImages.path("dunes.jpg")

        let outcome = try await thumbnail([file])

        let out = try Data(contentsOf: output.appending(path: "dunes.jpg")).count
        #expect(outcome.output.contains(" 37026 bytes in, \(out) bytes out, "))
    }

    @Test func `a lower quality yields a smaller file`() async throws {
        let file = SampleImages.path("dunes.jpg")
        var sizes: [Int] = []
        for quality in ["10", "95"] {
            #expect(try await thumbnail([file, "--quality", quality, "--force"]).status == 0)
            sizes.append(try Data(contentsOf: output.appending(path: "dunes.jpg")).count)
        }
        #expect(sizes[0] < sizes[1])
    }

    @Test func `thumbnails are still images, so options of animations do not exist`() async throws {
        let outcome = try await thumbnail([SampleImages.path("dunes.jpg"), "--format", "webp", "--keep-delays"])

        #expect(outcome.status == 2)
        #expect(outcome.problems.contains("--keep-delays"))
        #expect(try await !alcedo.run(["thumbnail", "--help"]).output.contains("--keep-delays"))
        #expect(try await alcedo.run(["convert", "--help"]).output.contains("--keep-delays"))
    }

    @Test func `processors are applied to the thumbnail`() async throws {
        let file = SampleImages.path("dunes.jpg")

        #expect(try await thumbnail([file, "--processor", "crop:40x30", "--jobs", "1"]).status == 0)

        #expect(try info("dunes.jpg").size == PixelSize(width: 40, height: 30))
    }

    /// dunes.jpg has 1200 x 800 pixels.
    @Test(arguments: [
        (["--fit", "inside"], 100, 67), (["--fit", "outside"], 150, 100), (["--fit", "cover"], 100, 100),
        (["--fit", "contain"], 100, 100), (["--fit", "fill"], 100, 100), (["--smart"], 100, 100),
        (["--position", "left"], 100, 100), (["--position", "30,20.5", "--fit", "cover"], 100, 100),
        (["--fit", "contain", "--position", "bottom"], 100, 100),
    ])
    func `a thumbnail is fitted in every way`(words: [String], width: Int, height: Int) async throws {
        let outcome = try await thumbnail([SampleImages.path("dunes.jpg")] + words)

        #expect(outcome.status == 0, "\(outcome.problems)")
        #expect(try info("dunes.jpg").size == PixelSize(width: width, height: height))
    }

    @Test func `a thumbnail shows the part at the position`() async throws {
        let file = SampleImages.path("dunes.jpg")
        let whole = try await thumbnail([file, "--fit", "outside", "--format", "png"])
        #expect(whole.status == 0)
        func pixels() throws -> PixelBuffer {
            let data = try Data(contentsOf: output.appending(path: "dunes.png"))
            return try PNGDecoder().decode(data, options: DecodingOptions()).pixels
        }
        let outside = try pixels()
        for (position, left) in [("left", 0), ("center", 25), ("right", 50), ("0,50", 0), ("50,0", 25), ("90,0", 50)] {
            let words = [file, "--position", position, "--format", "png", "--force"]
            #expect(try await thumbnail(words).status == 0)

            let part = try pixels()

            let crop: ImageProcessors.BuiltIn = .crop(x: left, y: 0, width: 100, height: 100)
            #expect(try part == crop.process(DecodedImage(pixels: outside)).pixels, "\(position)")
        }
    }

    @Test(arguments: [
        (["--fit", "around"], "inside, outside, cover, contain, fill"), (["--position", "middle"], "topLeft"),
        (["--position", "101,0"], "two percentages"), (["--position", "10"], "two percentages"),
        (["--position", "smart"], "two percentages"), (["--smart", "--fit", "inside"], "--smart needs --fit cover"),
        (["--smart", "--position", "top"], "exclude each other"),
        (["--fit", "fill", "--position", "top"], "--position needs --fit cover or contain"),
    ])
    func `fits that contradict each other are errors`(words: [String], message: String) async throws {
        let outcome = try await thumbnail([SampleImages.path("dunes.jpg")] + words)

        #expect(outcome.status == 2)
        #expect(outcome.problems.contains(message))
    }

    @Test func `properties that a thumbnail loses are in its object and in the summary`() async throws {
        let animation = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../GIF/Fixtures/animated.gif").standardized.path
        let clear = SampleImages.path("rings.png")

        let script = try await thumbnail([animation, clear, "--json"])
        let people = try await thumbnail([animation, clear, "--force"])

        let lines = try JSONLines.objects(script.output)
        func lost(_ input: String) -> [String]? {
            lines.first { $0["input"] as? String == input }?["lost"] as? [String]
        }
        #expect(lost(animation)?.contains("animation") == true)
        #expect(lost(clear) == ["alpha"])
        #expect(people.status == 0)
        #expect(people.problems == "")
        #expect(people.output.contains("\nnot kept: animation of 1, transparency of "))
    }

    @Test func `the profile of converted colors is no loss`() async throws {
        let profile = SampleImages.fixture("srgb-profile.jpg").path

        let outcome = try await thumbnail([profile, "--json"])

        #expect(try info("srgb-profile.jpg").metadata.colorProfile == nil)
        #expect(try JSONLines.objects(outcome.output).first?["lost"] as? [String] == [])
    }

    @Test func `a thumbnail keeps the EXIF that the option selects, in sRGB`() async throws {
        var image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        image.orientation = .right
        image.colorProfile = OutputColorSpace.displayP3.colorProfile
        let photo = directory.url.appending(path: "photo.png")
        try ImageEncoder.png().embedding(exif: MadeEXIF.photo).encode(image).write(to: photo)

        let usual = try await thumbnail([photo.path, "--json"])
        #expect(usual.status == 0)
        #expect(try info("photo.jpg").metadata == ImageMetadata())
        #expect(try JSONLines.objects(usual.output).first?["lost"] as? [String] == ["exif"])

        let kept = try await thumbnail([photo.path, "--json", "--force", "--metadata", "keep"])
        #expect(kept.status == 0)
        let exif = MadeEXIF.made(orientation: 1, size: PixelSize(width: 8, height: 16), hasPreview: false)
        #expect(try info("photo.jpg").metadata == ImageMetadata(exif: exif))
        #expect(try JSONLines.objects(kept.output).first?["lost"] as? [String] == [])
    }

    @Test func `images with one name do not overwrite each other`() async throws {
        let file = SampleImages.path("dunes.jpg")
        let copy = directory.url.appending(path: "dunes.png")
        try SampleImages.data("tiles.png").write(to: copy)

        #expect(try await thumbnail([file, copy.path, file]).status == 0)

        #expect(try info("dunes.jpg").size == PixelSize(width: 100, height: 67))
        #expect(try info("dunes-2.jpg").size == PixelSize(width: 100, height: 100))
        #expect(try info("dunes-3.jpg").size == PixelSize(width: 100, height: 67))
    }

    @Test func `an image is never overwritten under any name`() async throws {
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        let own = output.appending(path: "dunes.jpg")
        let dunes = try SampleImages.data("dunes.jpg")
        try dunes.write(to: own)
        // Another image's thumbnail would be written to a link to a third.
        let tiles = try SampleImages.data("tiles.png")
        let linked = directory.url.appending(path: "linked.png")
        try tiles.write(to: linked)
        try FileManager.default.createSymbolicLink(at: output.appending(path: "good.jpg"), withDestinationURL: linked)
        let good = directory.url.appending(path: "good.png")
        try tiles.write(to: good)

        let outcome = try await thumbnail([own.path, linked.path, good.path, "--force"])

        #expect(outcome.status == 1)
        #expect(outcome.problems.filter { $0 == "\n" }.count == 2)
        #expect(outcome.output.hasPrefix("thumbnails: 1 written, 2 failed, "))
        #expect(try Data(contentsOf: own) == dunes)
        #expect(try Data(contentsOf: linked) == tiles)
        #expect(try info("linked.jpg").size == PixelSize(width: 100, height: 100))
    }

    @Test func `each failure is one line, in order, and the other thumbnails are written`() async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let bad = ["/truncated.jpg", "/empty.jpg", "/bomb.png", "/missing.jpg"].map {
            origin.url(for: $0).absoluteString
        }
        let arguments =
            bad + ["ftp://127.0.0.1/a.png", "/missing.png", SampleImages.path("rings.png")]

        let outcome = try await thumbnail(arguments + ["--format", "png"])

        #expect(outcome.status == 1)
        let lines = outcome.problems.split(separator: "\n")
        #expect(lines.count == 6)
        for (line, argument) in zip(lines, arguments) { #expect(line.hasPrefix("alcedo: \(argument): ")) }
        #expect(outcome.output.hasPrefix("thumbnails: 1 written, 6 failed, "))
        #expect(try info("rings.png").format == .png)
    }

    @Test func `a directory that cannot be created is reported in one line`() async throws {
        let file = directory.url.appending(path: "a-file")
        try Data("not a directory".utf8).write(to: file)

        let outcome = try await alcedo.run([
            "thumbnail", SampleImages.path("tiles.png"), "--size", "10", "--output", file.path,
        ])

        #expect(outcome.status == 1)
        #expect(outcome.problems.contains("cannot write \(file.path)"))
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
    }

    @Test func `a terminal shows the progress`() async throws {
        let terminal = try PseudoTerminal()
        let files = ["dunes.jpg", "tiles.png"].map(SampleImages.path)
        let process = try ChildProcess(
            "alcedo", ["thumbnail", "--no-cache", "--size", "20", "--output", output.path] + files,
            directory: directory.path, input: .file("/dev/null"), output: .file("/dev/null"),
            problems: .descriptor(terminal.inside))

        let seen = try await terminal.read(until: " 2/2 images, ")

        #expect(try await process.wait() == 0)
        #expect(seen.contains(" 1/2 images, "))
    }

    @Test(arguments: [
        ["a.png", "--size", "10"], ["a.png", "--output", "x"], ["--size", "10", "--output", "x"],
        ["a.png", "--size", "0", "--output", "x"], ["a.png", "--size", "9", "--output", "x", "--format", "bmp"],
        ["a.png", "--size", "9", "--output", "x", "--quality", "0"],
        ["a.png", "--size", "9", "--output", "x", "--processor", "none"],
        ["a.png", "--size", "9", "--output", "x", "--jobs", "0"], ["", "--size", "9", "--output", "x"],
    ])
    func `an invalid command line exits with status 2`(words: [String]) async throws {
        let outcome = try await alcedo.run(["thumbnail"] + words)

        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
    }
}
