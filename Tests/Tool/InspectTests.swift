import Alcedo
import AlcedoHTTP
import AlcedoPlaceholders
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct InspectTests {
    let directory: TemporaryDirectory
    let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    @Test func `every argument yields one object per line, in order, also after failures`() async throws {
        let good = SampleImages.path("tiles.png")
        let text = directory.url.appending(path: "a page with\na new line.gif")
        try Data("<html>".utf8).write(to: text)
        let cut = directory.url.appending(path: "cut.jpg")
        try SampleImages.data("dunes.jpg").prefix(5_000).write(to: cut)
        let arguments = [good, "/nonexistent.png", text.path, cut.path, "/dev/zero", good]

        let outcome = try await alcedo.run(["inspect", "--json", "--pixels"] + arguments)

        #expect(outcome.status == 1)
        #expect(outcome.problems == "")
        let objects = try JSONLines.objects(outcome.output)
        #expect(objects.map { $0["input"] as? String } == arguments)
        let codes = objects.map { ($0["error"] as? String)?.prefix { $0 != ":" }.description }
        #expect(codes == [nil, "unreadable", "unknownFormat", "truncated", "unreadable", nil])
        #expect(objects[3]["width"] as? Int == 1200)
        #expect(objects[3]["frames"] == nil)
        let tiles = objects[0]
        #expect(tiles["format"] as? String == "png")
        #expect(tiles["width"] as? Int == 512)
        #expect(tiles["frameCount"] as? Int == 1)
        #expect(tiles["loopCount"] is NSNull)
        #expect(tiles["error"] is NSNull)
        #expect((tiles["delaysMs"] as? [Double]) == [])
        #expect(tiles["orientation"] as? Int == 1)
        let frames = try #require(tiles["frames"] as? [[String: String]])
        try #require(frames.count == 1)
        #expect(frames[0]["sha256"]?.count == 64)
        #expect(frames[0]["sha256Alpha0Zeroed"]?.count == 64)
    }

    @Test func `no name can control the terminal`() async throws {
        let name = "a\u{9B}2Jb\u{1B}[2Jc\u{7F}\u{80}é\u{A0}.png"
        try Data("none".utf8).write(to: directory.url.appending(path: name))

        let outcome = try await alcedo.run(["inspect", "--json", directory.path])

        let controls = outcome.output.unicodeScalars.filter { $0 < " " || (0x7F...0x9F).contains($0.value) }
        #expect(controls.allSatisfy { $0 == "\n" })
        let input = try #require(try JSONLines.objects(outcome.output).first?["input"] as? String)
        #expect(input == "\(directory.path)/\(name)")
    }

    @Test func `an animation has a digest and a delay for every frame`() async throws {
        let gif = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "../GIF/Fixtures/animated.gif"
        ).standardized

        let outcome = try await alcedo.run(["inspect", "--json", "--pixels", gif.path])
        let plain = try await alcedo.run(["inspect", gif.path])

        let object = try #require(try JSONLines.objects(outcome.output).first)
        #expect(outcome.status == 0)
        #expect((object["frames"] as? [Any])?.count == 3)
        #expect(object["frameCount"] as? Int == 3)
        #expect(object["delaysMs"] as? [Double] == [50, 50, 50])
        #expect(object["loopCount"] as? Int == 3)
        #expect(plain.output.contains("gif, 13 x 19"))
        #expect(plain.output.contains("3 frames, 0.15 s, loop count 3"))
    }

    /// An image of 300 × 150 pixels, all of the color 240, 128, 16.
    private func orangeImage() throws -> DecodedImage {
        let size = PixelSize(width: 300, height: 150)
        let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, _ in
            for index in memory.indices { memory[index] = [240, 128, 16, 255][index % 4] }
        }
        return DecodedImage(pixels: try #require(pixels))
    }

    @Test func `placeholders are those of the image that a filter has reduced`() async throws {
        // Stripes of which averages of whole pixels would show other, wide ones.
        let size = PixelSize(width: 450, height: 300)
        let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, bytesPerRow in
            for index in memory.indices {
                memory[index] = index % 4 == 3 || index % bytesPerRow / 4 * 2 % 9 < 4 ? 255 : 0
            }
        }
        let image = DecodedImage(pixels: try #require(pixels))
        let file = directory.url.appending(path: "stripes.png")
        try ImageEncoder.png().encode(image).write(to: file)

        let outcome = try await alcedo.run(["inspect", "--json", "--placeholders", file.path])

        let reduced = try ImageProcessors.Resize(to: PixelSize(width: 100, height: 100)).process(image)
        let found = try #require(try JSONLines.objects(outcome.output).first?["placeholders"] as? [String: String])
        #expect(try found["thumbHash"] == ThumbHash(reduced).base64)
        #expect(try found["blurHash"] == BlurHash(reduced).text)
    }

    @Test func `--placeholders prints a ThumbHash, a BlurHash and the dominant color of each image`() async throws {
        let orange = directory.url.appending(path: "orange.png")
        let image = try orangeImage()
        try ImageEncoder.png().encode(image).write(to: orange)

        let outcome = try await alcedo.run([
            "inspect", "--json", "--placeholders", orange.path, SampleImages.path("tiles.png"),
        ])
        let text = try await alcedo.run(["inspect", "--placeholders", orange.path])
        let plain = try await alcedo.run(["inspect", "--json", orange.path])

        #expect(outcome.status == 0)
        #expect(text.status == 0)
        let found = try JSONLines.objects(outcome.output).map { try #require($0["placeholders"] as? [String: String]) }
        let hashes = (try ThumbHash(image).base64, try BlurHash(image).text)
        #expect(found.first == ["thumbHash": hashes.0, "blurHash": hashes.1, "dominantColor": "#f08010"])
        #expect(text.output.contains("  ThumbHash: \(hashes.0)\n  BlurHash: \(hashes.1)\n"))
        #expect(text.output.contains("  dominant color: #f08010\n"))
        #expect(found.count == 2)
        let tiles = try #require(found.last)
        #expect(ThumbHash(base64: tiles["thumbHash"] ?? "")?.image?.size == PixelSize(width: 32, height: 32))
        #expect(BlurHash(tiles["blurHash"] ?? "")?.text.count == 28)
        #expect(try JSONLines.objects(plain.output).first?.keys.contains("placeholders") == false)
    }

    @Test func `placeholders have the colors of the image in sRGB`() async throws {
        var wide = try orangeImage()
        wide.colorProfile = OutputColorSpace.displayP3.colorProfile
        let file = directory.url.appending(path: "wide.png")
        try ImageEncoder.png().encode(wide).write(to: file)

        let outcome = try await alcedo.run(["inspect", "--json", "--placeholders", file.path])

        let object = try #require(try JSONLines.objects(outcome.output).first)
        let found = try #require(object["placeholders"] as? [String: String])
        let converted = try LittleCMSColorConverter().converted(wide)
        let color = try #require(try converted.dominantColor())
        let hash = try ThumbHash(converted).base64
        #expect(found["dominantColor"] == "#\(color.opaqueDescription)")
        #expect(found["dominantColor"] != "#f08010")
        #expect(found["thumbHash"] == hash)
    }

    @Test func `a truncated image has an error and no placeholders`() async throws {
        let cut = directory.url.appending(path: "cut.jpg")
        try SampleImages.data("dunes.jpg").prefix(5_000).write(to: cut)

        let outcome = try await alcedo.run(["inspect", "--json", "--placeholders", cut.path])

        let object = try #require(try JSONLines.objects(outcome.output).first)
        #expect(outcome.status == 1)
        #expect((object["error"] as? String)?.hasPrefix("truncated: ") == true)
        #expect(object["width"] as? Int == 1200)
        #expect(!object.keys.contains("placeholders"))
    }

    @Test func `a bitmap and an icon in a directory are inspected and converted`() async throws {
        let seeds = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fuzz/BMP/Seeds")
        for (seed, name) in [("rgb.bmp", "a.BMP"), ("icon.ico", "b.ico")] {
            try Data(contentsOf: seeds.appending(path: seed)).write(to: directory.url.appending(path: name))
        }
        let png = directory.url.appending(path: "a.png")

        let outcome = try await alcedo.run(["inspect", "--json", "--pixels", directory.path])
        let conversion = try await alcedo.run([
            "convert", directory.url.appending(path: "a.BMP").path, "--output", png.path, "--no-cache",
        ])

        let objects = try JSONLines.objects(outcome.output)
        #expect(outcome.status == 0)
        #expect(objects.map { $0["format"] as? String } == ["bmp", "ico"])
        #expect(objects.map { $0["width"] as? Int } == [3, 2])
        #expect(objects.map { $0["hasAlpha"] as? Bool } == [false, true])
        #expect(conversion.status == 0, "\(conversion.problems)")
        #expect(try CodecRegistry.standard.decode(Data(contentsOf: png)).size == PixelSize(width: 3, height: 2))
    }

    @Test func `the properties of a photo are reported, and coordinates only on request`() async throws {
        let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../JPEG/Fixtures")
        let photo = fixtures.appending(path: "photo.jpg").standardized.path
        let plain = fixtures.appending(path: "420.jpg").standardized.path

        let script = try await alcedo.run(["inspect", "--json", photo, plain])
        let people = try await alcedo.run(["inspect", photo, plain])
        let located = try await alcedo.run(["inspect", "--json", "--location", photo, plain])
        let locatedText = try await alcedo.run(["inspect", "--location", photo])

        let objects = try JSONLines.objects(script.output)
        #expect(objects.last?["photo"] is NSNull)
        let found = try #require(objects.first?["photo"] as? [String: Any])
        #expect(found["model"] as? String == "A-1")
        #expect(found["exposureTime"] as? Double == 1.0 / 250)
        #expect(found["isoSpeed"] as? Int == 400)
        #expect(found["dateTimeOriginal"] as? String == "2024-05-17T18:04:05.25+02:00")
        #expect(found["artists"] as? [String] == ["Ada Exif", "Bob; Partners"])
        #expect(found["hasGPS"] as? Bool == true)
        #expect(found.count == 20)
        for key in ["latitude", "longitude", "altitude"] { #expect(!found.keys.contains(key)) }
        #expect(!script.output.contains("47.18"))
        #expect(
            people.output.contains(
                """
                  camera: Alcedo Cameras A-1
                  lens: 50mm F1.8
                  exposure: 1/250 s, f/2.8, ISO 400, 50 mm, -0.7 EV, flash
                  taken: 2024-05-17T18:04:05.25+02:00
                  title: Title in XMP
                  description: In EXIF
                  artist: Ada Exif, Bob; Partners
                  copyright: © Exif
                  location: present

                """))
        let place = try #require(try JSONLines.objects(located.output).first?["photo"] as? [String: Any])
        #expect(abs(try #require(place["latitude"] as? Double) - 47.186944) < 1e-6)
        #expect(abs(try #require(place["longitude"] as? Double) + 8.5125) < 1e-6)
        #expect(place["altitude"] as? Double == -431.5)
        #expect(locatedText.output.contains("  location: 47.186944, -8.5125, -431.5 m\n"))
    }

    @Test func `the name and the use of a color profile are reported`() async throws {
        func write(_ name: String, _ profile: Data?) throws -> String {
            var image = DecodedImage.coordinates(PixelSize(width: 4, height: 4))
            image.colorProfile = profile
            let file = directory.url.appending(path: name)
            try ImageEncoder.webp(lossless: true).encode(image).write(to: file)
            return file.path
        }
        let same = SampleImages.fixture("srgb-profile.jpg").path
        let wide = try write("wide.webp", OutputColorSpace.displayP3.colorProfile)
        let broken = try write("broken.webp", Data("broken".utf8))
        let none = try write("none.webp", nil)
        // A cICP chunk for Display P3, which takes precedence over the profile, after the header.
        let code: [UInt8] = [0, 0, 0, 4, 0x63, 0x49, 0x43, 0x50, 12, 13, 0, 1, 0x6E, 0x03, 0xE3, 0xEF]
        var image = DecodedImage.coordinates(PixelSize(width: 4, height: 4))
        image.colorProfile = OutputColorSpace.displayP3.colorProfile
        let png = try ImageEncoder.png().encode(image)
        let coded = directory.url.appending(path: "coded.png")
        try (Data(png.prefix(33)) + Data(code) + Data(png.dropFirst(33))).write(to: coded)
        let arguments = [same, wide, broken, none, coded.path]

        let script = try await alcedo.run(["inspect", "--json"] + arguments)
        let people = try await alcedo.run(["inspect"] + arguments)

        let objects = try JSONLines.objects(script.output)
        #expect(
            objects.map { $0["profileUse"] as? String } == ["sRGB", "converted", "unusable", nil, "overridden"])
        let names = objects.map { $0["profileName"] as? String }
        #expect(names == ["sRGB built-in", "Display P3", nil, nil, "Display P3"])
        #expect(objects.map { $0["profileError"] is NSNull } == [true, true, false, true, true])
        #expect(objects[0]["profileBytes"] as? Int == 588)
        #expect(objects[3]["profileBytes"] is NSNull)
        #expect(objects.map { $0["color"] as? String } == [nil, nil, nil, nil, "Display P3"])
        #expect(objects[0]["color"] is NSNull)
        #expect(people.output.contains("  color: Display P3\n  profile: "))
        #expect(people.output.contains("  profile: 588 bytes, sRGB built-in, equal to sRGB\n"))
        #expect(people.output.contains(" bytes, Display P3\n"))
        #expect(people.output.contains("  profile: 6 bytes, unusable: color: "))
        #expect(people.output.contains(", Display P3, overridden by the file's color space\n"))
    }

    @Test func `a gray profile in a file with colors is reported as unusable`() async throws {
        var image = DecodedImage.coordinates(PixelSize(width: 4, height: 4))
        image.colorProfile = OutputColorSpace.displayP3.colorProfile
        var data = try ImageEncoder.webp(lossless: true).encode(image)
        let space = try #require(data.range(of: Data("mntrRGB XYZ ".utf8)))
        data.replaceSubrange(space, with: Data("mntrGRAYXYZ ".utf8))
        let file = directory.url.appending(path: "gray.webp")
        try data.write(to: file)

        let outcome = try await alcedo.run(["inspect", "--json", file.path])

        let objects = try JSONLines.objects(outcome.output)
        #expect(objects.map { $0["profileUse"] as? String } == ["unusable"])
        let errors = objects.map { $0["profileError"] as? String }
        #expect(errors == ["color: the profile describes gray, and the image has colors"])
    }

    @Test func `requests follow the network options`() async throws {
        let png = try SampleImages.data("tiles.png")
        let origin = try LoopbackOrigin { request in
            request.fields["X-Token"] == "1" ? OriginReply(body: png) : .status(403)
        }
        defer { origin.stop() }
        let url = origin.url(for: "/a.png").absoluteString

        let outcome = try await alcedo.run([
            "inspect", "--json", url, "--header", "X-Token: 1", "--timeout", "60", "--retry", "1",
        ])

        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        #expect(try JSONLines.objects(outcome.output).first?["format"] as? String == "png")
        #expect(try await alcedo.run(["inspect", "-q", url]).status == 1)
    }

    @Test func `an unreadable image is reported on standard error only`() async throws {
        let missing = directory.url.appending(path: "missing.png").path

        let outcome = try await alcedo.run(["inspect", missing])

        #expect(outcome.status == 1)
        #expect(outcome.output == "")
        #expect(outcome.problems.contains(missing))
    }

    @Test func `a file of a known format without a codec is named, without advice for developers`() async throws {
        let scan = directory.url.appending(path: "scan.psd")
        try Data("8BPS\0\u{1}\0\0".utf8).write(to: scan)
        for command in [["inspect"], ["load", "--no-sheet"]] {
            let outcome = try await alcedo.run(command + [scan.path])
            #expect(outcome.status == 1)
            let reason = "; the data is a Photoshop document (PSD); this build of alcedo does not support it\n"
            #expect((outcome.problems + outcome.output).contains(reason), "\(outcome.problems)")
        }
    }

    @Test func `an image that needs more memory than allowed is refused, and the message names the option`()
        async throws
    {
        let file = directory.path + "/large.png"
        let pixels = try #require(
            PixelBuffer(size: PixelSize(width: 600, height: 600), format: .rgba8, alphaMode: .opaque))
        try ImageEncoder.png().encode(DecodedImage(pixels: pixels)).write(to: URL(filePath: file))
        for command in [["inspect", "--pixels"], ["load", "--no-sheet"], ["show"], ["decode", "-o", directory.path]] {
            let outcome = try await alcedo.run(command + [file, "--max-decoded", "1"])
            #expect(outcome.status == 1, "\(command)")
            #expect(
                outcome.problems.contains("the limit is 1048576 bytes (--max-decoded)"),
                "\(command): \(outcome.problems)")
            #expect(try await alcedo.run(command + [file, "--max-decoded", "8"]).status == 0, "\(command)")
        }
    }

    @Test func `an encoder that needs more memory than allowed is refused, and the message names the option`()
        async throws
    {
        let file = directory.path + "/large.png"
        let pixels = try #require(
            PixelBuffer(size: PixelSize(width: 600, height: 600), format: .rgba8, alphaMode: .opaque))
        try ImageEncoder.png().encode(DecodedImage(pixels: pixels)).write(to: URL(filePath: file))
        let command = [
            "convert", file, "--format", "webp", "--output", directory.path + "/large.webp", "--max-decoded",
        ]
        let outcome = try await alcedo.run(command + ["8"])
        #expect(outcome.status == 1)
        #expect(outcome.problems.contains("the limit is 8388608 bytes (--max-decoded)"), "\(outcome.problems)")
        #expect(try await alcedo.run(command + ["16"]).status == 0)
    }

    @Test func `an image over the pixel limit is refused, and the limit can be raised`() async throws {
        // 512 x 512
        let file = SampleImages.path("tiles.png")
        for command in [["inspect", "--pixels"], ["load", "--no-sheet"], ["show"], ["decode", "-o", directory.path]] {
            let outcome = try await alcedo.run(command + [file, "--max-pixels", "262143"])
            #expect(outcome.status == 1, "\(command)")
            #expect(
                outcome.problems.contains("limit of 262143 pixels (--max-pixels)"), "\(command): \(outcome.problems)")
            #expect(try await alcedo.run(command + [file, "--max-pixels", "262144"]).status == 0, "\(command)")
        }
    }
}
