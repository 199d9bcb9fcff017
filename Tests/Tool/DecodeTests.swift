import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct DecodeTests {
    private let directory: TemporaryDirectory
    private let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    private static let animation = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../GIF/Fixtures/animated.gif").standardized.path

    private func decode(_ words: [String]) async throws -> Program.Outcome {
        try await alcedo.run(["decode", "--output", directory.url.appending(path: "out").path] + words)
    }

    private func result(_ name: String) throws -> Data {
        try Data(contentsOf: directory.url.appending(path: "out/\(name)"))
    }

    @Test func `the pixel limit can be raised`() async throws {
        // One pixel on a canvas of 108 million.
        let head: [UInt8] = Array("GIF89a".utf8) + [0xE0, 0x2E, 0x28, 0x23, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
        let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]
        let file = directory.url.appending(path: "wide.gif")
        try Data(head + frame).write(to: file)

        let rejected = try await decode([file.path])
        #expect(rejected.status == 1)
        #expect(rejected.problems.contains("100000000"))
        #expect(try await decode([file.path, "--max-pixels", "120000000"]).status == 0)
        let produced = directory.url.appending(path: "out/wide.pam")
        let byteCount = try FileManager.default.attributesOfItem(atPath: produced.path)[.size] as? Int
        #expect(byteCount ?? 0 > 432_000_000)
    }

    /// Writes an image of one pixel per column with this package's encoder.
    private func write(_ samples: [UInt8], _ format: PixelFormat, _ mode: AlphaMode) throws -> String {
        let size = PixelSize(width: samples.count / format.bytesPerPixel, height: 1)
        let pixels = PixelBuffer(size: size, format: format, alphaMode: mode) { memory, _ in
            memory.copyBytes(from: samples)
        }
        let file = directory.url.appending(path: "made.png")
        try PNGEncoder(usesPaletteWhenLossless: false).encode(DecodedImage(pixels: try #require(pixels))).write(
            to: file)
        return file.path
    }

    @Test func `PAM has the image's channels and depth`() async throws {
        let cases: [(samples: [UInt8], format: PixelFormat, mode: AlphaMode, head: String, body: [UInt8])] = [
            ([7, 200], .gray8, .opaque, "WIDTH 2\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\nTUPLTYPE GRAYSCALE", [7, 200]),
            ([1, 2, 3, 255], .rgbx8, .opaque, "WIDTH 1\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB", [1, 2, 3]),
            (
                [1, 2, 3, 4], .rgba8, .straight,
                "WIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA", [1, 2, 3, 4]
            ),
            (
                [1, 2, 3, 4, 5, 6, 7, 8], .rgba16, .straight,
                "WIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 65535\nTUPLTYPE RGB_ALPHA", [2, 1, 4, 3, 6, 5, 8, 7]
            ),
        ]
        for (samples, format, mode, head, body) in cases {
            let file = try write(samples, format, mode)

            #expect(try await decode([file, "--force"]).status == 0)

            #expect(try result("made.pam") == Data("P7\n\(head)\nENDHDR\n".utf8) + body)
        }
    }

    @Test func `raw pixels and PPM have the requested format, and losses are reported`() async throws {
        let file = try write([1, 2, 3, 4, 5, 6, 7, 8], .rgba16, .straight)

        let raw = try await decode([file, "--format", "rgba"])
        let flat = try await decode([file, "--format", "ppm", "--depth", "8"])

        #expect(raw.status == 0)
        #expect(raw.problems == "")
        #expect(flat.status == 0)
        #expect(try result("made.rgba") == Data([1, 2, 3, 4, 5, 6, 7, 8]))
        #expect(try result("made.ppm") == Data("P6\n1 1\n255\n".utf8) + [2, 4, 6])
        #expect(flat.problems == "alcedo: \(file): not kept: transparency, 16 bits\n")
        #expect(flat.output.hasSuffix("\nnot kept: transparency of 1, 16 bits of 1\n"))
    }

    @Test func `an animation is written as one file per frame, or as one frame`() async throws {
        let all = try await decode([Self.animation, SampleImages.path("tiles.png"), "--json"])
        #expect(all.status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path + "/out").sorted()
        #expect(names == ["animated+0000.pam", "animated+0001.pam", "animated+0002.pam", "tiles.pam"])
        let lines = try JSONLines.objects(all.output)
        #expect(lines.count == 4)
        #expect(
            Set(lines.compactMap { ($0["output"] as? String)?.split(separator: "/").last.map(String.init) })
                == Set(names))
        #expect(lines.compactMap { $0["frame"] as? Int } == [0, 1, 2])
        let frames = try (0..<3).map { try result("animated+000\($0).pam") }
        #expect(frames[0] != frames[1])
        #expect(frames.allSatisfy { $0.count == frames[0].count })

        let one = try await alcedo.run(["decode", Self.animation, "--frame", "2", "-o", "-"])
        #expect(one.status == 0)
        let three = try await alcedo.run([
            "decode", Self.animation, "--frame", "3", "-o", directory.url.appending(path: "x.pam").path,
        ])
        #expect(three.status == 1)
        #expect(three.problems.contains("the image has no frame 3; the last frame is 2"))
        #expect(!FileManager.default.fileExists(atPath: directory.url.appending(path: "x.pam").path))
    }

    @Test func `one file contains all frames, and standard output all images`() async throws {
        let file = directory.url.appending(path: "all.ppm")
        let complete = try await alcedo.run(["decode", Self.animation, "--output", file.path, "--quiet"])
        #expect(complete.status == 0)
        #expect(complete.output == "")
        let head = "P6\n13 19\n255\n"
        #expect(try Data(contentsOf: file).count == 3 * (head.utf8.count + 13 * 19 * 3))

        let pixels = directory.url.appending(path: "pixels")
        let out = try await Program(name: "alcedo", outputPath: pixels.path).run([
            "decode", SampleImages.path("rings.png"), SampleImages.path("tiles.png"), "-o", "-", "--format", "rgba",
        ])
        #expect(out.status == 0)
        #expect(out.problems == "")
        let sizes = try ["rings.png", "tiles.png"].map {
            try CodecRegistry.standard.inspect(SampleImages.data($0)).size.pixelCount * 4
        }
        #expect(try Data(contentsOf: pixels).count == sizes.reduce(0, +))
    }

    @Test func `the decoded image is upright`() async throws {
        #expect(try await decode([SampleImages.path("turned.jpg"), "--format", "rgba"]).status == 0)

        let image = try CodecRegistry.standard.decode(SampleImages.data("turned.jpg"))
        let rows = (0..<image.pixels.height).map { image.pixels.row($0).withUnsafeBytes { Data($0) } }
        #expect(try result("turned.rgba") == rows.reduce(Data(), +))
    }

    @Test func `full or closed standard output is an error`() async throws {
        let full = try await Program(name: "alcedo", outputPath: "/dev/full").run([
            "decode", SampleImages.path("tiles.png"), "--output", "-",
        ])
        #expect(full.status == 1)
        #expect(full.problems.contains("cannot write standard output"))
    }

    @Test(arguments: [
        ["a.png"], ["--output", "x"], ["a.png", "--output", "x", "--format", "bmp"],
        ["a.png", "--output", "x", "--frame", "-1"], ["a.png", "--output", "x", "--depth", "10"],
        ["a.png", "--output", "-", "--json"], ["a.png", "b.png", "--output", "x.pam"],
        ["a.png", "--output", "x.pam", "--format", "ppm"],
    ])
    func `an invalid command line exits with status 2`(words: [String]) async throws {
        let outcome = try await alcedo.run(["decode"] + words)

        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
    }
}
