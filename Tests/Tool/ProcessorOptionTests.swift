import Alcedo
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct ProcessorOptionTests {
    private static let names = [
        "resize", "crop", "circle", "round", "blur", "tint", "flip", "rotate", "gray", "brightness", "contrast",
        "saturation", "background", "extend", "trim", "sharpen", "median", "negate", "threshold", "gamma", "normalize",
    ]

    let directory: TemporaryDirectory
    let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    /// Loads dunes.jpg, which has 1200 x 800 pixels, and returns the written image.
    private func load(_ processors: [String]) async throws -> DecodedImage {
        let file = SampleImages.path("dunes.jpg")
        let options = processors.flatMap { ["--processor", $0] }
        let outcome = try await alcedo.run(
            ["load", file, "--no-cache", "--force", "--output", directory.path] + options)
        #expect(outcome.status == 0, "\(processors): \(outcome.problems)")
        let data = try Data(contentsOf: directory.url.appending(path: "1-dunes.jpg.png"))
        return try PNGDecoder().decode(data, options: DecodingOptions())
    }

    @Test(arguments: [
        ("resize:300x300", 300, 200), ("resize:300x300,fill", 450, 300), ("resize:30x40,exact", 30, 40),
        ("resize:120", 120, 80), ("resize:x80", 120, 80), ("resize:1500x2000,enlarge", 1500, 1000),
        ("resize:1500", 1200, 800), ("crop:100x50", 100, 50), ("crop:100x50,topLeft", 100, 50),
        ("resize:30x40,cover", 30, 40), ("resize:30x40,cover,smart", 30, 40), ("resize:30x40,cover,topLeft", 30, 40),
        ("resize:1500x1500,cover,left,enlarge", 1500, 1500), ("resize:30x40,contain", 30, 40),
        ("resize:30x40,contain,bottom", 30, 40), ("extend:10", 1220, 820), ("extend:3,edge", 1206, 806),
        ("extend:3,mirror", 1206, 806), ("extend:3,336699", 1206, 806), ("trim", 1200, 763), ("trim:0", 1200, 796),
        ("crop:1:1,smart", 800, 800), ("crop:1:1,left", 800, 800), ("crop:10,20,30x40", 30, 40), ("circle", 800, 800),
        ("circle:4,ff0000", 800, 800), ("round:8", 1200, 800), ("round:50%,2,00ff0080", 1200, 800),
        ("blur:2.5", 1200, 800), ("tint:336699,multiply", 1200, 800), ("tint:#33669980", 1200, 800),
        ("flip:leftAndRight", 1200, 800), ("rotate:90", 800, 1200), ("rotate:-90,ffffff", 800, 1200),
        ("gray", 1200, 800), ("brightness:1.2", 1200, 800), ("contrast:0.5", 1200, 800), ("saturation:0", 1200, 800),
        ("background:ffffff", 1200, 800), ("sharpen:1.5", 1200, 800), ("sharpen:1,0,3", 1200, 800),
        ("sharpen:0.5,1,2,2,10,20", 1200, 800), ("median", 1200, 800), ("median:5", 1200, 800), ("negate", 1200, 800),
        ("negate:alpha", 1200, 800), ("threshold", 1200, 800), ("threshold:90", 1200, 800),
        ("threshold:90,perChannel", 1200, 800), ("gamma", 1200, 800), ("gamma:0.45", 1200, 800),
        ("normalize", 1200, 800), ("normalize:0,99.5", 1200, 800),
    ])
    func `every form of a processor is accepted`(processor: String, width: Int, height: Int) async throws {
        #expect(try await load([processor]).size == PixelSize(width: width, height: height))
    }

    @Test func `processors are applied in order`() async throws {
        let cropped = try await load(["crop:100x50", "resize:10"])
        let resized = try await load(["resize:10", "crop:100x50"])

        #expect(cropped.size == PixelSize(width: 10, height: 5))
        #expect(resized.size == PixelSize(width: 10, height: 7))
    }

    @Test func `the pixels equal those of the processors`() async throws {
        let data = try SampleImages.data("dunes.jpg")
        let dunes = try JPEGDecoder().decode(data, options: DecodingOptions())
        // So wide that the image is decoded at full size.
        let expected = try ImageProcessors.Composition([
            .resize(width: 700), .tint(PixelColor(red: 0x33, green: 0x66, blue: 0x99), mode: .multiply),
            .flip(.topAndBottom),
        ]).process(dunes)

        let written = try await load(["resize:700", "tint:336699,multiply", "flip:topAndBottom"])

        #expect(
            try ImageProcessors.Flatten().process(written).pixels == ImageProcessors.Flatten().process(expected).pixels)
    }

    @Test(
        arguments: [
            ("sharpen:1", .sharpen(sigma: 1)), ("sharpen:1,0,3", .sharpen(sigma: 1, flat: 0, jagged: 3)),
            (
                "sharpen:1,0,3,4,5,6",
                .sharpen(sigma: 1, flat: 0, jagged: 3, threshold: 4, brightening: 5, darkening: 6)
            ),
            ("median:5", .median(size: 5)), ("negate", .negate()), ("threshold:90", .threshold(90)),
            ("threshold:90,perChannel", .threshold(90, perChannel: true)), ("gamma", .gamma()),
            ("gamma:0.5", .gamma(0.5)),
            ("normalize", .normalize()), ("normalize:5,80.5", .normalize(lower: 5, upper: 80.5)),
        ] as [(String, ImageProcessors.BuiltIn)])
    func `parameters reach the processor in their order`(
        text: String, processor: ImageProcessors.BuiltIn
    ) async throws {
        let dunes = try CodecRegistry.standard.decode(SampleImages.data("dunes.jpg"))
        let small = try ImageProcessors.BuiltIn.crop(x: 300, y: 200, width: 400, height: 300).process(dunes)
        let expected = try processor.process(small)

        let written = try await load(["crop:300,200,400x300", text])

        #expect(written.pixels.straightRGBA(rowCount: 300) == expected.pixels.straightRGBA(rowCount: 300))
        #expect(expected.pixels != small.pixels)
    }

    @Test func `an unknown name lists the available processors`() async throws {
        let outcome = try await alcedo.run(["load", "a.png", "--processor", "emboss:1"])

        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        for name in Self.names { #expect(outcome.problems.contains(" \(name)"), "\(name)") }
    }

    @Test(arguments: [
        "resize", "resize:", "resize:0", "resize:10x", "resize:10x10,around", "resize:-5x5", "resize:x0", "crop:1",
        "resize:10x10,fit,top", "resize:10x10,cover,middle", "resize:10x10,contain,smart", "extend", "extend:-1",
        "extend:1,red", "extend:1,edge,2", "trim:256", "trim:-1", "trim:1,2", "crop:1,2,3", "crop:10x10,middle",
        "circle:2", "circle:2,red", "round:-1", "round:101%", "round", "blur:inf",
        "blur:nan", "blur:-1", "blur:1e3", "tint:12345", "tint:ffffff,none", "tint:+fffff", "flip:x", "rotate:x",
        "gray:1", "brightness:-1", "contrast", "saturation:1,2", "background:ffffff00",
        "sharpen", "sharpen:11", "sharpen:1,2", "sharpen:1,2,3,4", "sharpen:1,2,x", "median:2", "median:101", "median:",
        "negate:color", "threshold:256", "threshold:90,all", "threshold:perChannel",
        "threshold:1,perChannel,perChannel", "gamma:0", "gamma:1001", "gamma:1,2", "normalize:5", "normalize:50,50",
        "normalize:0,101", "normalize:a,b",
    ])
    func `invalid parameters show the processor's parameters`(processor: String) async throws {
        let outcome = try await alcedo.run(["load", "a.png", "--processor", processor])

        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        let name = processor.prefix { $0 != ":" }
        #expect(
            outcome.problems.hasPrefix("alcedo: invalid processor '\(processor)'; the syntax is \(name)"))
    }

    @Test(arguments: [
        ("blur:5000", "SIGMA is from 0 to 4096"), ("resize:70000", "W and H are from 1 to 65535"),
        ("crop:70000,0,1x1", "X and Y from 0 to 65535"), ("round:101%", "PERCENT from 0 to 100"),
        ("rotate:400000", "DEGREES are from -360000 to 360000"), ("contrast:1001", "FACTOR is from 0 to 1000"),
        ("tint:336699,brighter", "MODE normal, multiply, "), ("circle:70000,ffffff", "BORDER is from 0 to 65535"),
        ("extend:70000", "N is from 0 to 65535"), ("trim:300", "TOLERANCE is from 0 to 255"),
        ("background:red", "COLOR is rrggbb"), ("sharpen:11", "SIGMA is from 0 to 10"),
        ("median:4", "SIZE is an odd number from 1 to 99"), ("threshold:-1", "LEVEL is from 0 to 255"),
        ("gamma:0", "EXPONENT is from 0.000001 to 1000"), ("normalize:9,1", "LOWER and UPPER are from 0 to 100"),
    ])
    func `a processor's error is reported with its parameters`(processor: String, values: String) async throws {
        let outcome = try await alcedo.run(["load", "a.png", "--processor", processor])

        #expect(outcome.status == 2)
        #expect(outcome.problems.contains("invalid processor '\(processor)'; "))
        #expect(outcome.problems.contains(values))
    }

    @Test func `help lists every processor`() async throws {
        let outcome = try await alcedo.run(["load", "--help"])

        #expect(outcome.status == 0)
        for name in Self.names { #expect(outcome.output.contains("\n    \(name)"), "\(name)") }
    }
}
