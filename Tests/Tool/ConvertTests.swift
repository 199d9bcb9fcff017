import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct ConvertTests {
    private let directory: TemporaryDirectory
    private let alcedo: Program
    private let output: URL

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
        output = directory.url.appending(path: "out")
    }

    private static let animation = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../GIF/Fixtures/animated.gif").standardized.path

    private func convert(_ words: [String]) async throws -> Program.Outcome {
        try await alcedo.run(["convert", "--output", output.path] + words)
    }

    private func result(_ name: String) throws -> Data { try Data(contentsOf: output.appending(path: name)) }

    private func info(_ name: String) throws -> ImageInfo { try CodecRegistry.standard.inspect(result(name)) }

    @Test(arguments: [("png", "png"), ("jpeg", "jpg"), ("webp", "webp"), ("gif", "gif")])
    func `whole images are converted upright to each format, from files and servers`(format: String, ending: String)
        async throws
    {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }

        let outcome = try await convert([
            SampleImages.path("turned.jpg"), origin.url(for: "/good.jpg").absoluteString, "--format", format,
        ])

        #expect(outcome.status == 0, "\(outcome.problems)")
        #expect(outcome.output.hasPrefix("converted: 2 written, 0 failed, "))
        let rotated = try CodecRegistry.standard.inspect(SampleImages.data("turned.jpg"))
        #expect(try info("turned.\(ending)").size == rotated.uprightSize)
        #expect(try info("turned.\(ending)").format.rawValue == format)
        #expect(try info("good.\(ending)").size == PixelSize(width: 1200, height: 800))
    }

    @Test(arguments: ["convert", "thumbnail"])
    func `gray with a transparent level stays gray and transparent`(command: String) async throws {
        let gray = try #require(
            PixelBuffer(size: PixelSize(width: 20, height: 20), format: .gray16, alphaMode: .opaque) { memory, _ in
                for index in memory.indices { memory[index] = UInt8(index % 40 / 8 * 7) }
            })
        let file = directory.url.appending(path: "gray.png")
        try MadePhoto.png(
            ImageEncoder.png().encode(DecodedImage(pixels: gray)), adding: [("tRNS", Data([0, 0]))]
        ).write(to: file)
        let options = command == "thumbnail" ? ["--size", "9"] : []

        let outcome = try await alcedo.run([command, "--output", output.path, file.path, "--format", "png"] + options)

        #expect(outcome.status == 0, "\(outcome.problems)")
        #expect(try info("gray.png").colorModel == .grayAlpha)
        #expect(try info("gray.png").bitDepth == 16)
    }

    @Test func `lossless images are exact, and quality and effort take effect`() async throws {
        let file = SampleImages.path("rings.png")
        let before = try CodecRegistry.standard.decode(SampleImages.data("rings.png"))

        #expect(try await convert([file, "--format", "webp", "--lossless"]).status == 0)
        let after = try CodecRegistry.standard.decode(result("rings.webp"))
        #expect(after.pixels.size == before.pixels.size)
        for y in 0..<before.pixels.height {
            let rows = [before, after].map { image in image.pixels.row(y).withUnsafeBytes { Array($0) } }
            #expect(rows[0] == rows[1])
        }

        for (format, name, options) in [
            ("jpeg", "dunes.jpg", [["--quality", "10"], ["--quality", "95"]]),
            ("webp", "dunes.webp", [["--quality", "10"], ["--quality", "95"]]),
            ("png", "dunes.png", [["--effort", "12"], ["--effort", "0"]]),
        ] {
            var sizes: [Int] = []
            for option in options {
                #expect(
                    try await convert([SampleImages.path("dunes.jpg"), "--format", format, "-f"] + option).status == 0)
                sizes.append(try result(name).count)
            }
            #expect(sizes[0] < sizes[1])
        }
        #expect(
            try await convert([SampleImages.path("dunes.jpg"), "--format", "jpeg", "-f", "--progressive"]).status == 0)
    }

    @Test func `colors of png and gif are reduced, and png is interlaced`() async throws {
        /// Returns the bytes of the header of a PNG that tell the bit depth, the color type and the interlacing.
        func kind(_ options: [String]) async throws -> [UInt8] {
            let words = [SampleImages.path("dunes.jpg"), "--format", "png", "--size", "64", "-f"]
            #expect(try await convert(words + options).status == 0)
            let header = Array(try result("dunes.png").prefix(29))
            return [header[24], header[25], header[28]]
        }
        func colorCount(_ name: String) throws -> Int {
            let pixels = try CodecRegistry.standard.decode(result(name)).pixels
            var colors: Set<[UInt8]> = []
            for y in 0..<pixels.height { for x in 0..<pixels.width { colors.insert(pixels.rgba(x, y)) } }
            return colors.count
        }
        #expect(try await kind([]) == [8, 2, 0])
        #expect(try await kind(["--interlaced"]) == [8, 2, 1])
        #expect(try await kind(["--colors", "16", "--interlaced"]) == [4, 3, 1])
        #expect(try await kind(["--colors", "200"]) == [8, 3, 0])
        let dithered = try result("dunes.png")
        #expect(try (101...200).contains(colorCount("dunes.png")))
        #expect(try await kind(["--colors", "200", "--no-dither"]) == [8, 3, 0])
        #expect(try result("dunes.png") != dithered)

        let words = [SampleImages.path("dunes.jpg"), "--format", "gif", "--size", "64", "-f"]
        #expect(try await convert(words + ["--colors", "8", "--no-dither"]).status == 0)
        #expect(try colorCount("dunes.gif") <= 8)
    }

    @Test func `webp is nearly lossless, or has alpha of reduced quality`() async throws {
        let file = directory.url.appending(path: "noise.png")
        let size = PixelSize(width: 64, height: 64)
        var generator = SeededGenerator(seed: 61)
        let pixels = try #require(
            PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { memory, _ in
                for index in memory.indices { memory[index] = UInt8.random(in: 40...220, using: &generator) }
            })
        try ImageEncoder.png().encode(DecodedImage(pixels: pixels)).write(to: file)
        func converted(_ options: [String]) async throws -> (bytes: Int, color: Int, alpha: Int) {
            let outcome = try await convert([file.path, "--format", "webp", "-f"] + options)
            #expect(outcome.status == 0, "\(options): \(outcome.problems)")
            let data = try result("noise.webp")
            let bytes = zip(
                pixels.tightBytes, try CodecRegistry.standard.decode(data).pixels.tightBytes)
            let differences = bytes.map { abs(Int($0) - Int($1)) }
            let samples = differences.enumerated()
            return (
                data.count, samples.filter { $0.offset % 4 < 3 }.map(\.element).max() ?? 0,
                samples.filter { $0.offset % 4 == 3 }.map(\.element).max() ?? 0
            )
        }

        let exact = try await converted(["--lossless"])
        #expect((exact.color, exact.alpha) == (0, 0))
        let near = try await converted(["--near-lossless", "40"])
        #expect((1...4).contains(near.color))
        #expect(near.alpha <= 4)
        #expect(near.bytes < exact.bytes)
        let lossy = try await converted(["--quality", "90"])
        #expect(lossy.color > 0)
        #expect(lossy.alpha == 0)
        let reduced = try await converted(["--quality", "90", "--alpha-quality", "10"])
        #expect(reduced.alpha > 0)
        #expect(reduced.bytes < lossy.bytes)
        let message = try await convert([
            "a.png", "--format", "webp", "--near-lossless", "60", "--quality", "80",
        ]).problems
        #expect(message.hasPrefix("alcedo: near-lossless webp does not support --quality; see "))
    }

    @Test(arguments: ["convert", "thumbnail"])
    func `one frame of an animation becomes a still image`(command: String) async throws {
        let side = ["--size", "60"]
        let frames = try #require(
            try CodecRegistry.standard.decode(Data(contentsOf: URL(filePath: Self.animation))).frames)
        #expect(frames.frameCount == 3)
        #expect(max(frames.canvasSize.width, frames.canvasSize.height) <= 60)
        var written: Set<[UInt8]> = []
        for index in 0..<3 {
            let words = [command, Self.animation, "--frame", "\(index)", "--format", "png", "-f", "--json"]
            let outcome = try await alcedo.run(words + ["--output", output.path] + side)

            #expect(outcome.status == 0, "\(outcome.problems)")
            #expect(try JSONLines.objects(outcome.output).first?["lost"] as? [String] == [])
            #expect(try info("animated.png").frameCount == 1)
            let still = try CodecRegistry.standard.decode(result("animated.png")).pixels
            let frame = try frames.frame(at: index)
            #expect(still.straightRGBA(rowCount: still.height) == frame.straightRGBA(rowCount: frame.height))
            written.insert(still.tightBytes)
        }
        // The first frame and the last one are equal.
        #expect(written.count == 2)
        let missing = try await alcedo.run(
            [command, Self.animation, "--frame", "3", "--format", "png", "-f", "--output", output.path] + side)
        #expect(missing.status == 1)
        #expect(missing.problems.contains("the image has no frame 3; the last frame is 2"))
        let jpeg = try await alcedo.run(
            [command, Self.animation, "--frame", "0", "--format", "jpeg", "--output", output.path] + side)
        #expect(jpeg.status == 0)
        #expect(!(jpeg.output + jpeg.problems).contains("animation"))
    }

    @Test func `color of jpeg is subsampled as requested, and below a quality of 90 by default`() async throws {
        var sizes: [Int] = []
        for option in [["444"], ["422"], ["420"], ["auto"]].map({ ["--subsampling"] + $0 }) + [[]] {
            let words = [SampleImages.path("dunes.jpg"), "--format", "jpeg", "--quality", "89", "-f"] + option
            #expect(try await convert(words).status == 0)
            sizes.append(try result("dunes.jpg").count)
        }
        #expect(sizes[0] > sizes[1])
        #expect(sizes[1] > sizes[2])
        #expect(sizes[3] == sizes[2])
        #expect(sizes[4] == sizes[2])
    }

    @Test func `a size reduces larger images only, and a limit of bytes lowers the quality`() async throws {
        let words = [SampleImages.path("dunes.jpg"), SampleImages.path("tiles.png"), "--format", "jpeg", "-f"]
        let small = try CodecRegistry.standard.inspect(SampleImages.data("tiles.png")).size
        #expect(max(small.width, small.height) < 600)
        #expect(try await convert(words + ["--size", "600"]).status == 0)
        #expect(try info("dunes.jpg").size == PixelSize(width: 600, height: 400))
        #expect(try info("tiles.jpg").size == small)
        let whole = try result("dunes.jpg")

        let dunes = [words[0], "--format", "jpeg", "-f"]
        let limited = try await convert(dunes + ["--size", "600", "--max-file-size", "\(whole.count / 2)"])

        #expect(limited.status == 0, "\(limited.problems)")
        let count = try result("dunes.jpg").count
        #expect(count <= whole.count / 2)
        #expect(count > whole.count / 4)
        #expect(try info("dunes.jpg").size == PixelSize(width: 600, height: 400))
        let impossible = try await convert(dunes + ["--max-file-size", "100"])
        #expect(impossible.status == 1)
        #expect(impossible.problems.contains("jpeg: the file has more than 100 bytes, even at the lowest quality"))
        let lossless = try await convert([words[1], "--format", "png", "-f", "--max-file-size", "0K"])
        #expect(lossless.problems.contains("png: the file has more than 0 bytes, and no lower quality"))
        #expect(try await convert(dunes + ["--max-file-size", "many"]).status == 2)
        #expect(try await convert(dunes + ["--size", "0"]).status == 2)
    }

    @Test(arguments: ["convert", "thumbnail"])
    func `an embedded thumbnail is no loss of EXIF`(command: String) async throws {
        var image = DecodedImage.coordinates(PixelSize(width: 240, height: 200))
        image.orientation = .right
        let photo = directory.url.appending(path: "photo.jpg")
        try ImageEncoder.jpeg().embedding(exif: MadeEXIF.photo).encode(image).write(to: photo)
        let options = command == "thumbnail" ? ["--size", "180"] : []
        for (policy, losses) in [("keep", []), ("strip", ["exif"])] {
            let outcome = try await alcedo.run(
                [
                    command, photo.path, "--format", "jpeg", "--output", output.path, "-f", "--json", "--metadata",
                    policy,
                ]
                    + ["--embed-thumbnail"] + options)

            #expect(outcome.status == 0, "\(outcome.problems)")
            #expect(try JSONLines.objects(outcome.output).first?["lost"] as? [String] == losses)
            let thumbnail = try info("photo.jpg").metadata.exif.flatMap { ImageMetadata.thumbnail(in: $0) }
            let size = try CodecRegistry.standard.inspect(#require(thumbnail)).size
            #expect(size == (options.isEmpty ? PixelSize(width: 100, height: 120) : PixelSize(width: 75, height: 90)))
        }
        let png = try await convert([photo.path, "--format", "png", "--embed-thumbnail"])
        #expect(png.problems.hasPrefix("alcedo: png does not support --embed-thumbnail; see "))
    }

    @Test func `short delays are written as browsers show them unless they are kept`() async throws {
        let pixels = DecodedImage.gray(side: 4, level: 10).pixels
        let frames = MadeFrames(pixels.size, [(pixels, .zero), (DecodedImage.gray(side: 4, level: 90).pixels, .zero)])
        let file = directory.url.appending(path: "fast.gif")
        try GIFEncoder().encode(DecodedImage(pixels: pixels, frames: frames)).write(to: file)

        for (options, delay) in [([], 100), (["--keep-delays"], 0)] as [([String], Int)] {
            #expect(try await convert([file.path, "--format", "gif", "-f"] + options).status == 0)
            #expect(try info("fast.gif").delays == [.milliseconds(delay), .milliseconds(delay)])
        }
    }

    @Test func `png accepts --lossless, and other formats name the option that they do not support`() async throws {
        #expect(try await convert([SampleImages.path("tiles.png"), "--format", "png", "--lossless"]).status == 0)
        let jpeg = try await convert(["a.png", "--format", "jpeg", "--lossless"])
        #expect(jpeg.problems.hasPrefix("alcedo: jpeg does not support --lossless; see "))
        let webp = try await convert(["a.png", "--format", "webp", "--lossless", "--quality", "3"])
        #expect(webp.problems.hasPrefix("alcedo: lossless webp does not support --quality; see "))
    }

    @Test func `animations are kept where the format supports them, and reported otherwise`() async throws {
        let converted = try await convert([Self.animation, "--format", "webp"])
        #expect(converted.status == 0)
        #expect(converted.problems == "")
        #expect(try info("animated.webp").frameCount == 3)

        let resized = try await convert([Self.animation, "--format", "gif", "--processor", "resize:7"])
        #expect(resized.status == 0)
        let small = try info("animated.gif")
        #expect(small.frameCount == 3)
        #expect(small.size == PixelSize(width: 7, height: 10))

        #expect(try await convert([Self.animation, "--format", "png"]).problems == "")
        #expect(try info("animated.png").frameCount == 3)

        let lost = try await convert([Self.animation, "--format", "jpeg"])
        #expect(lost.status == 0)
        #expect(lost.problems == "alcedo: \(Self.animation): not kept: animation\n")
        #expect(lost.output.hasSuffix("\nnot kept: animation of 1\n"))
        let quiet = try await convert([Self.animation, "--format", "jpeg", "--force", "--quiet"])
        #expect(quiet.status == 0)
        #expect(quiet.problems == "")
        #expect(quiet.output == "")
    }

    @Test func `profiles are kept, and lost EXIF and transparency are reported`() async throws {
        let profile = SampleImages.fixture("srgb-profile.jpg").path
        let outcome = try await convert([profile, SampleImages.path("turned.jpg"), "--format", "webp", "--json"])
        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        let before = try CodecRegistry.standard.inspect(Data(contentsOf: SampleImages.fixture("srgb-profile.jpg")))
        #expect(before.metadata.colorProfile != nil)
        #expect(try info("srgb-profile.webp").metadata.colorProfile == before.metadata.colorProfile)
        let rotated = try JSONLines.objects(outcome.output).first {
            $0["input"] as? String == SampleImages.path("turned.jpg")
        }
        #expect(rotated?["lost"] as? [String] == ["exif"])
        #expect(rotated?["layer"] as? String == "local")

        let alpha = try await convert([SampleImages.path("rings.png"), "--format", "jpeg"])
        #expect(alpha.status == 0)
        #expect(alpha.problems.hasSuffix("rings.png: not kept: transparency\n"))
        let partial = try await convert([SampleImages.path("rings.png"), "--format", "gif"])
        #expect(partial.status == 0)
        #expect(partial.problems.hasSuffix("rings.png: not kept: transparency\n"))
        let whole = try await convert([Self.animation, "--format", "gif", "--force"])
        #expect(whole.status == 0)
        #expect(whole.problems == "")
    }

    @Test func `inks are converted through their profile`() async throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let inks = tests.appending(path: "JPEG/Fixtures/cmyk.jpg")
        let file = directory.url.appending(path: "inks.jpg")
        let data = ProfileMaker.jpeg(try Data(contentsOf: inks), with: ProfileMaker.inks.data)
        try data.write(to: file)

        #expect(try await convert([file.path, "--format", "png"]).status == 0)

        let written = try CodecRegistry.standard.decode(result("inks.png")).pixels
        let formula = try CodecRegistry.standard.decode(data).pixels
        var options = DecodingOptions()
        options.keepsInks = true
        let stored = try CodecRegistry.standard.decode(data, options: options)
        let expected = try LittleCMSColorConverter().converted(stored).pixels
        #expect(written.tightBytes != formula.tightBytes)
        #expect(written.tightBytes == expected.tightBytes)
    }

    /// Converts a photo with a location in its EXIF to a format. Returns the written metadata and the reported losses.
    private func convertPhoto(_ words: [String], to ending: String) async throws -> (ImageMetadata, lost: [String]?) {
        var image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        image.orientation = .right
        image.colorProfile = OutputColorSpace.displayP3.colorProfile?.addingICCTag("mmod", Data("serial 7".utf8))
        let photo = directory.url.appending(path: "photo.jpg")
        try ImageEncoder.jpeg().embedding(exif: MadeEXIF.photo).encode(image).write(to: photo)
        let format = ending == "jpg" ? "jpeg" : ending
        let outcome = try await convert([photo.path, "--format", format, "--force", "--json"] + words)
        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        let object = try JSONLines.objects(outcome.output).first
        return (try info("photo.\(ending)").metadata, lost: object?["lost"] as? [String])
    }

    @Test(arguments: ["jpg", "png", "webp"])
    func `the option for metadata selects the EXIF that is kept`(ending: String) async throws {
        let (stripped, strippedLosses) = try await convertPhoto([], to: ending)
        let (kept, keptLosses) = try await convertPhoto(["--metadata", "keep"], to: ending)
        let (reduced, reducedLosses) = try await convertPhoto(["--metadata", "without-location"], to: ending)
        let (credit, _) = try await convertPhoto(["--metadata=copyright"], to: ending)

        #expect(stripped.exif == nil)
        #expect(strippedLosses == ["exif"])
        // The pixels are upright.
        let size = PixelSize(width: 8, height: 16)
        #expect(kept.exif == MadeEXIF.made(orientation: 1, size: size, hasPreview: false))
        #expect(keptLosses == [])
        let rest = try #require(reduced.exif)
        #expect(rest.range(of: MadeEXIF.maker) != nil)
        #expect(rest.range(of: MadeEXIF.latitude) == nil)
        #expect(reducedLosses == ["exif"])
        let names = try #require(credit.exif)
        #expect(names.range(of: MadeEXIF.artist) != nil)
        #expect(names.range(of: MadeEXIF.maker) == nil)
        #expect(names.range(of: MadeEXIF.latitude) == nil)
        #expect(try await convertPhoto(["--metadata", "strip"], to: ending).0 == stripped)
    }

    @Test(arguments: ["jpg", "png", "webp"])
    func `the resolution is kept with all metadata, its loss is reported, and it can be set`(ending: String)
        async throws
    {
        let photo = directory.url.appending(path: "dense.jpg")
        let image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        let resolution = ImageResolution(horizontal: 300, vertical: 150)
        try ImageEncoder.jpeg().embedding(ImageMetadata(resolution: resolution)).encode(image).write(to: photo)
        func written(_ words: [String]) async throws -> (ImageResolution?, [String]?) {
            let format = ending == "jpg" ? "jpeg" : ending
            let outcome = try await convert([photo.path, "--format", format, "--force", "--json"] + words)
            #expect(outcome.status == 0)
            #expect(outcome.problems == "")
            let object = try JSONLines.objects(outcome.output).first
            return (try info("dense.\(ending)").metadata.resolution, object?["lost"] as? [String])
        }

        let (stripped, losses) = try await written([])
        #expect(stripped == nil)
        #expect(losses == ["resolution"])
        let (kept, none) = try await written(["--metadata", "keep"])
        #expect(kept?.keeps(resolution) == true)
        #expect(none == [])
        let (set, _) = try await written(["--resolution", "96"])
        #expect(set?.keeps(ImageResolution(pixelsPerInch: 96)) == true)
    }

    @Test func `lost texts of png are reported`() async throws {
        let image = DecodedImage.coordinates(PixelSize(width: 16, height: 8))
        let file = directory.url.appending(path: "texts.png")
        try ImageEncoder.png().embedding(ImageMetadata(texts: ["Author": "Ada", "Title": "T"])).encode(image)
            .write(to: file)
        for (options, losses) in [
            (["png", "--metadata", "keep"], []), (["png", "--metadata", "copyright"], ["text"]), (["png"], ["text"]),
            (["jpeg", "--metadata", "keep"], ["text"]),
        ] as [([String], [String])] {
            let outcome = try await convert([file.path, "--force", "--json", "--format"] + options)
            #expect(try JSONLines.objects(outcome.output).first?["lost"] as? [String] == losses)
        }
    }

    @Test func `a profile loses what identifies a device, unless all metadata is kept`() async throws {
        let plain = try #require(OutputColorSpace.displayP3.colorProfile)

        #expect(try await convertPhoto([], to: "webp").0.colorProfile == plain)
        let (kept, _) = try await convertPhoto(["--metadata", "keep"], to: "webp")
        #expect(kept.colorProfile == plain.addingICCTag("mmod", Data("serial 7".utf8)))
    }

    @Test func `the loss of a color profile that is too large for a JPEG is reported`() async throws {
        // An RGB profile of one byte more than the 255 markers of a JPEG hold.
        var profile = Data(count: 255 * 65_519 + 1)
        profile.replaceSubrange(16..<20, with: Data("RGB ".utf8))
        let size = PixelSize(width: 4, height: 4)
        let pixels = try #require(PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque))
        let source = directory.url.appending(path: "large.webp")
        try ImageEncoder.webp(lossless: true).encode(DecodedImage(pixels: pixels, colorProfile: profile))
            .write(to: source)

        let outcome = try await convert([source.path, "--format", "jpeg", "--json"])

        #expect(outcome.status == 0, "\(outcome.problems)")
        #expect(try info("large.jpg").metadata.colorProfile == nil)
        let converted = try JSONLines.objects(outcome.output).first { $0["input"] as? String == source.path }
        #expect(converted?["lost"] as? [String] == ["profile"])
    }

    @Test func `a file name determines the format, and standard output takes one image`() async throws {
        let file = directory.url.appending(path: "new/one.webp")
        let outcome = try await alcedo.run(["convert", SampleImages.path("tiles.png"), "--output", file.path])
        #expect(outcome.status == 0, "\(outcome.problems)")
        #expect(try CodecRegistry.standard.inspect(Data(contentsOf: file)).format == .webp)

        let out = directory.url.appending(path: "stdout")
        let piped = try await Program(name: "alcedo", outputPath: out.path).run(
            ["convert", "-", "--format", "jpeg", "-o", "-"], input: try SampleImages.data("dunes.jpg"))
        #expect(piped.status == 0)
        #expect(piped.problems == "")
        #expect(try CodecRegistry.standard.decode(Data(contentsOf: out)).size == PixelSize(width: 1200, height: 800))
    }

    @Test func `processors run first, and layers are reported`() async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let url = origin.url(for: "/good.jpg").absoluteString
        var layers: [String?] = []
        for _ in 0..<2 {
            let outcome = try await convert([
                url, "--format", "png", "--processor", "crop:40x30", "--json", "--force",
            ])
            #expect(outcome.status == 0)
            let line = try #require(try JSONLines.objects(outcome.output).first)
            #expect(line["width"] as? Int == 40)
            #expect(line["height"] as? Int == 30)
            #expect(line["bytes"] as? Int == 37_026)
            #expect(line["output"] as? String == output.appending(path: "good.png").path)
            #expect(line["error"] is NSNull)
            layers.append(line["layer"] as? String)
        }
        #expect(layers == ["network", "disk"])
        #expect(try info("good.png").size == PixelSize(width: 40, height: 30))
    }

    @Test func `a failure is reported once, as a line or in its JSON object`() async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let bad = origin.url(for: "/truncated.jpg").absoluteString
        let words = [bad, SampleImages.path("tiles.png"), "--format", "png", "--force"]

        let people = try await convert(words)
        let script = try await convert(words + ["--json"])

        #expect(people.status == 1)
        #expect(people.problems.hasPrefix("alcedo: \(bad): "))
        #expect(people.problems.filter { $0 == "\n" }.count == 1)
        #expect(script.status == 1)
        #expect(script.problems == "")
        let objects = try JSONLines.objects(script.output)
        #expect(objects.count == 2)
        let failed = try #require(objects.first { $0["input"] as? String == bad })
        #expect((failed["error"] as? String)?.contains("JPEG") == true)
        #expect(failed["output"] is NSNull)
    }

    @Test(arguments: [
        ["a.png", "--format", "png"], ["a.png", "--output", "x"], ["a.png", "--output", "x", "--format", "bmp"],
        ["a.png", "--output", "x", "--format", "jpeg", "--lossless"],
        ["a.png", "--output", "x", "--format", "webp", "--lossless", "--quality", "3"],
        ["a.png", "--output", "x", "--format", "png", "--quality", "3"],
        ["a.png", "--output", "x", "--format", "webp", "--effort", "7"],
        ["a.png", "--output", "x", "--format", "png", "--effort", "13"],
        ["a.png", "--output", "x", "--format", "gif", "--progressive"],
        ["a.png", "--output", "x", "--format", "png", "--metadata", "none"],
        ["a.png", "--output", "x", "--format", "jpeg", "--subsampling", "411"],
        ["a.png", "--output", "x", "--format", "webp", "--subsampling", "444"],
        ["a.png", "--output", "x", "--format", "jpeg", "--keep-delays"],
        ["a.png", "--output", "x", "--format", "webp", "--colors", "16"],
        ["a.png", "--output", "x", "--format", "png", "--colors", "1"],
        ["a.png", "--output", "x", "--format", "png", "--colors", "257"],
        ["a.png", "--output", "x", "--format", "png", "--colors", "16", "--lossless"],
        ["a.png", "--output", "x", "--format", "png", "--no-dither"],
        ["a.png", "--output", "x", "--format", "jpeg", "--interlaced"],
        ["a.png", "--output", "x", "--format", "png", "--resolution", "0"],
        ["a.png", "--output", "x", "--format", "gif", "--resolution", "72"],
        ["a.png", "--output", "x", "--format", "png", "--recompress"],
        ["a.png", "--output", "x", "--format", "png", "--near-lossless", "60"],
        ["a.png", "--output", "x", "--format", "webp", "--near-lossless", "101"],
        ["a.png", "--output", "x", "--format", "webp", "--near-lossless", "60", "--lossless"],
        ["a.png", "--output", "x", "--format", "webp", "--near-lossless", "60", "--quality", "80"],
        ["a.png", "--output", "x", "--format", "webp", "--near-lossless", "60", "--effort", "0"],
        ["a.png", "--output", "x", "--format", "webp", "--near-lossless", "60", "--alpha-quality", "50"],
        ["a.png", "--output", "x", "--format", "webp", "--lossless", "--alpha-quality", "50"],
        ["a.png", "--output", "x", "--format", "jpeg", "--alpha-quality", "50"],
        ["a.png", "--output", "x", "--format", "png", "--compression", "lzw"],
        ["a.png", "--output", "x", "--format", "png", "--frame", "-1"],
        ["a.png", "--output", "x", "--format", "gif", "--frame", "0", "--keep-delays"],
        ["a.png", "b.png", "--output", "x.png"], ["a.png", "--output", "x.png", "--format", "jpeg"],
        ["a.png", "b.png", "--output", "-", "--format", "png"],
        ["a.png", "--output", "-", "--format", "png", "--json"],
    ])
    func `an invalid command line exits with status 2`(words: [String]) async throws {
        let outcome = try await alcedo.run(["convert"] + words)

        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
    }
}
