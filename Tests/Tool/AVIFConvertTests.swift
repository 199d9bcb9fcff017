#if AVIF
    import Alcedo
    import AlcedoProgramSupport
    import CReferenceDecoders
    import Foundation
    import TestSupport
    import Testing

    /// Tests of the tool's AVIF support and of the C loop of `alcedo-bench decode`.
    @Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
    struct AVIFConvertTests {
        private let directory: TemporaryDirectory
        private let alcedo: Program
        private let output: URL

        init() throws {
            directory = try TemporaryDirectory()
            alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
            output = directory.url.appending(path: "out")
        }

        private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent()

        private func convert(_ words: [String]) async throws -> Program.Outcome {
            try await alcedo.run(["convert", "--format", "avif", "--effort", "0", "--output", output.path] + words)
        }

        private func result(_ name: String) throws -> Data { try Data(contentsOf: output.appending(path: name)) }

        @Test func `a lossless AVIF is exact, and is read like other formats`() async throws {
            let outcome = try await convert([SampleImages.path("tiles.png"), "--lossless"])

            #expect(outcome.status == 0)
            #expect(outcome.problems == "")
            let before = try CodecRegistry.programs.decode(SampleImages.data("tiles.png"))
            let after = try CodecRegistry.programs.decode(result("tiles.avif"))
            #expect(after.pixels.size == before.pixels.size)
            #expect(after.pixels.tightBytes == before.pixels.tightBytes)
            // The file is found in its directory by its extension.
            let report = try await alcedo.run(["inspect", "--json", output.path])
            #expect(report.status == 0)
            #expect(report.output.contains("\"avif\""))
        }

        @Test func `quality takes effect, and options of other formats are rejected`() async throws {
            let file = SampleImages.path("dunes.jpg")
            var sizes: [Int] = []
            for quality in ["10", "95"] {
                #expect(try await convert([file, "-f", "--quality", quality]).status == 0)
                sizes.append(try result("dunes.avif").count)
            }
            #expect(sizes[0] < sizes[1])
            #expect(try await convert([file, "-f", "--progressive"]).status == 2)
            #expect(try await convert([file, "-f", "--lossless", "--quality", "10"]).status == 2)
        }

        @Test func `an animation stays an animation in AVIF`() async throws {
            let outcome = try await convert([Self.tests.appending(path: "GIF/Fixtures/animated.gif").path])

            #expect(outcome.status == 0)
            #expect(outcome.problems == "")
            #expect(try CodecRegistry.programs.inspect(result("animated.avif")).frameCount == 3)
        }

        @Test func `samples of 16 bits have 10 bits in AVIF, and the loss is reported`() async throws {
            let size = PixelSize(width: 16, height: 16)
            let pixels = try #require(PixelBuffer(size: size, format: .rgba16, alphaMode: .straight))
            let file = directory.url.appending(path: "deep.png")
            try ImageEncoder.png().encode(DecodedImage(pixels: pixels)).write(to: file)

            let outcome = try await convert([file.path])

            #expect(outcome.status == 0)
            #expect(outcome.problems == "alcedo: \(file.path): not kept: 16 bits\n")
            #expect(try CodecRegistry.programs.inspect(result("deep.avif")).bitDepth == 10)
        }

        @Test(arguments: ["lossy.avif", "alpha.avif", "grid.avif"])
        func `the loop over libavif decodes every pixel of an intact AVIF`(name: String) throws {
            let data = try Data(contentsOf: Self.tests.appending(path: "Fuzz/AVIF/Seeds/\(name)"))
            let bytes = [UInt8](data)

            let count = try CodecRegistry.programs.inspect(data).size.pixelCount
            #expect(alcedo_reference_decode_avif(bytes, bytes.count) == count)
            #expect(alcedo_reference_decode_avif(bytes, 24) == 0)
        }
    }
#endif
