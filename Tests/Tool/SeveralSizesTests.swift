import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Several files of one image, and their names.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct SeveralSizesTests {
    private let directory: TemporaryDirectory
    private let alcedo: Program
    private let output: URL

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
        output = directory.url.appending(path: "out")
    }

    private static let dunes = SampleImages.path("dunes.jpg")
    private static let animation = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../GIF/Fixtures/animated.gif").standardized.path

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: output.path).sorted() }
    }

    private func data(_ name: String) throws -> Data { try Data(contentsOf: output.appending(path: name)) }

    private func size(_ name: String) throws -> PixelSize { try CodecRegistry.standard.inspect(data(name)).size }

    @Test(arguments: ["convert", "thumbnail"])
    func `an image has one file for each size, and is fetched once`(command: String) async throws {
        let body = try SampleImages.data("dunes.jpg")
        let origin = try LoopbackOrigin { _ in OriginReply(body: body) }
        defer { origin.stop() }

        let outcome = try await alcedo.run([
            command, origin.url(for: "/a.jpg").absoluteString, Self.dunes, "--size", "300", "--size", "90", "--format",
            "png", "--output", output.path, "--json",
        ])

        #expect(outcome.status == 0, "\(outcome.problems)")
        #expect(try names == ["a-300.png", "a-90.png", "dunes-300.png", "dunes-90.png"])
        #expect(try size("dunes-300.png") == PixelSize(width: 300, height: 200))
        #expect(try size("dunes-90.png") == PixelSize(width: 90, height: 60))
        #expect(origin.requests.count == 1)
        let lines = try JSONLines.objects(outcome.output).filter { $0["input"] as? String == Self.dunes }
        #expect(lines.map { $0["width"] as? Int } == [300, 90])
        #expect(lines.map { $0["output"] as? String } == ["300", "90"].map { "\(output.path)/dunes-\($0).png" })
    }

    @Test(arguments: ["convert", "thumbnail"])
    func `each size looks as it does alone`(command: String) async throws {
        let options = ["--format", "png", "--fit", "cover", "--position", "20,50", "--output", output.path]
        func decoded(_ name: String) throws -> PixelBuffer { try CodecRegistry.standard.decode(data(name)).pixels }
        #expect(try await alcedo.run([command, Self.dunes, "--size", "64", "--size", "200"] + options).status == 0)

        for side in [64, 200] {
            #expect(try await alcedo.run([command, Self.dunes, "--size", "\(side)", "-f"] + options).status == 0)

            let (alone, together) = (try decoded("dunes.png"), try decoded("dunes-\(side).png"))
            #expect(alone.size == PixelSize(width: side, height: side))
            #expect(together.size == alone.size)
            let difference = ImageDifference(alone, together)
            #expect(difference.ratio > 40, "\(side): \(difference)")
        }
    }

    @Test func `an animation stays one in every size, except as a thumbnail`() async throws {
        let words = [Self.animation, "--size", "20", "--size", "10", "--format", "webp"]
        #expect(try await alcedo.run(["convert", "--output", output.path + "/animated"] + words).status == 0)
        #expect(try await alcedo.run(["thumbnail", "--output", output.path + "/still"] + words).status == 0)

        for (name, isAnimated) in [("animated", true), ("still", false)] {
            for side in [20, 10] {
                let info = try CodecRegistry.standard.inspect(data("\(name)/animated-\(side).webp"))
                #expect(max(info.size.width, info.size.height) <= side)
                #expect((info.frameCount > 1) == isAnimated, "\(name), \(side)")
            }
        }
    }

    @Test func `samples of 16 bits stay so, except in thumbnails of color`() async throws {
        func file(_ name: String, _ format: PixelFormat) throws -> String {
            let pixels = try #require(
                PixelBuffer(size: PixelSize(width: 64, height: 64), format: format, alphaMode: .opaque) { memory, _ in
                    for index in memory.indices { memory[index] = index % 8 < 6 ? UInt8(index % 251) : 255 }
                })
            let path = directory.url.appending(path: name)
            try ImageEncoder.png().encode(DecodedImage(pixels: pixels)).write(to: path)
            return path.path
        }
        let files = [try file("color.png", .rgba16), try file("gray.png", .gray16)]
        for command in ["convert", "thumbnail"] {
            let words = ["--size", "20", "--size", "10", "--format", "png", "-f", "--output", output.path]
            #expect(try await alcedo.run([command] + files + words).status == 0)

            let depth = try CodecRegistry.standard.inspect(data("color-20.png")).bitDepth
            #expect(depth == (command == "convert" ? 16 : 8))
            #expect(try CodecRegistry.standard.inspect(data("gray-10.png")).bitDepth == 16)
        }
    }

    @Test func `names follow a pattern, whose extension selects the format`() async throws {
        let tiles = SampleImages.path("tiles.png")

        let converted = try await alcedo.run([
            "convert", Self.dunes, tiles, "--size", "40", "--size", "20", "--output",
            output.path + "/{size}_{name}{1}.webp",
        ])
        let thumbnails = try await alcedo.run([
            "thumbnail", Self.dunes, "--size", "30", "--output", output.path + "/small-{size}", "--format", "png",
        ])

        #expect(converted.status == 0, "\(converted.problems)")
        #expect(thumbnails.status == 0, "\(thumbnails.problems)")
        #expect(
            try names == [
                "20_dunes{1}.webp", "20_tiles{1}.webp", "40_dunes{1}.webp", "40_tiles{1}.webp", "small-30.png",
            ])
        #expect(try CodecRegistry.standard.inspect(data("20_dunes{1}.webp")).format.rawValue == "webp")
    }

    @Test(arguments: [
        (["convert", "--size", "20", "--size", "10"], "q/{nme}.png", "{nme}"),
        (["convert", "--size", "20"], "{name}-{Size}.png", "{Size}"), (["convert"], "{index}.png", "{index}"),
        (["thumbnail", "--size", "20"], "q/{name}{sze}", "{sze}"), (["thumbnail", "--size", "20"], "{nme}", "{nme}"),
    ])
    func `an unknown field of a pattern is named`(words: [String], pattern: String, field: String) async throws {
        let outcome = try await alcedo.run(words + ["--output", pattern, Self.dunes])

        #expect(outcome.status == 2)
        #expect(outcome.problems.contains("--output has no field \(field); its fields are {name} and {size}"))
    }

    @Test func `a directory may have the name of an unknown field`() async throws {
        let outcome = try await alcedo.run([
            "thumbnail", Self.dunes, "--size", "20", "--output", output.path + "/{x}/",
        ])

        #expect(outcome.status == 0, "\(outcome.problems)")
        #expect(try names == ["{x}"])
    }

    @Test func `names that a pattern repeats get a number`() async throws {
        let copy = directory.url.appending(path: "dunes.png")
        try SampleImages.data("tiles.png").write(to: copy)

        let outcome = try await alcedo.run([
            "thumbnail", Self.dunes, copy.path, "--size", "20", "--size", "10", "--output", output.path,
        ])

        #expect(outcome.status == 0)
        #expect(try names == ["dunes-10-2.jpg", "dunes-10.jpg", "dunes-20-2.jpg", "dunes-20.jpg"])
    }

    @Test func `an existing file of any size is an error before any work`() async throws {
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: output.appending(path: "dunes-10.jpg"))

        let outcome = try await alcedo.run([
            "thumbnail", Self.dunes, "--size", "20", "--size", "10", "--output", output.path,
        ])

        #expect(outcome.status == 1)
        #expect(outcome.problems.contains("dunes-10.jpg already exists"))
        #expect(try names == ["dunes-10.jpg"])
    }

    @Test(arguments: [
        ["thumbnail", "--size", "20", "--size", "20", "-o", "out"],
        ["convert", "--size", "20", "--size", "10", "-o", "a.webp"],
        ["convert", "--size", "20", "--size", "10", "-o", "-", "--format", "png"],
        ["convert", "--size", "20", "--size", "10", "-o", "{name}.png"], ["convert", "-o", "{size}.png"],
        ["convert", "--size", "20", "-o", "{size}.png", SampleImages.path("tiles.png")],
        ["convert", "--size", "20", "-o", "{size}.png", "--format", "webp"],
        ["convert", "--size", "20", "-o", "{size}.tga"], ["thumbnail", "--size", "20", "-o", "{size}.tga"],
        ["thumbnail", "--size", "20", "--size", "10", "-o", "{name}"],
        ["convert", "--fit", "cover", "-o", "a.png"], ["convert", "--smart", "-o", "a.png"],
        ["convert", "--position", "top", "-o", "a.png"], ["convert", "--fit", "around", "--size", "9", "-o", "a.png"],
    ])
    func `sizes and names that contradict each other are errors`(words: [String]) async throws {
        let run = try alcedo.start(words + [Self.dunes])
        let outcome = try await run.outcome()

        #expect(outcome.status == 2, "\(outcome.problems)")
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
        let names = try FileManager.default.contentsOfDirectory(atPath: run.directory.path)
        #expect(Set(names).isSubset(of: ["input", "output", "problems"]), "\(names)")
    }

    /// dunes.jpg has 1200 x 800 pixels.
    @Test(arguments: [
        (["--fit", "inside"], 90, 60), (["--fit", "outside"], 135, 90), (["--fit", "cover"], 90, 90),
        (["--fit", "contain"], 90, 90), (["--fit", "fill"], 90, 90), (["--smart"], 90, 90),
        (["--position", "30,20.5"], 90, 90), (["--fit", "contain", "--position", "bottom"], 90, 90),
    ])
    func `a converted image is fitted in every way`(words: [String], width: Int, height: Int) async throws {
        let file = output.appending(path: "a.webp").path

        let outcome = try await alcedo.run(["convert", Self.dunes, "--size", "90", "--output", file] + words)

        #expect(outcome.status == 0, "\(outcome.problems)")
        #expect(try size("a.webp") == PixelSize(width: width, height: height))
    }
}
