#if JXL
    import Alcedo
    import AlcedoProgramSupport
    import CReferenceDecoders
    import Foundation
    import TestSupport
    import Testing

    /// Tests of the tool's JPEG XL support and of the C loop of `alcedo-bench decode`.
    @Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
    struct JXLConvertTests {
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
            try await alcedo.run(["convert", "--format", "jxl", "--effort", "3", "--output", output.path] + words)
        }

        private func result(_ name: String) throws -> Data { try Data(contentsOf: output.appending(path: name)) }

        @Test func `a lossless JPEG XL is exact, and is read like other formats`() async throws {
            let outcome = try await convert([SampleImages.path("tiles.png"), "--lossless"])

            #expect(outcome.status == 0)
            #expect(outcome.problems == "")
            let before = try CodecRegistry.programs.decode(SampleImages.data("tiles.png"))
            let after = try CodecRegistry.programs.decode(result("tiles.jxl"))
            #expect(after.pixels.size == before.pixels.size)
            #expect(after.pixels.tightBytes == before.pixels.tightBytes)
            // The file is found in its directory by its extension.
            let report = try await alcedo.run(["inspect", "--json", output.path])
            #expect(report.status == 0)
            #expect(report.output.contains("\"jxl\""))
        }

        @Test func `quality takes effect, and options of other formats are rejected`() async throws {
            let file = SampleImages.path("dunes.jpg")
            var sizes: [Int] = []
            for quality in ["10", "95"] {
                #expect(try await convert([file, "-f", "--quality", quality]).status == 0)
                sizes.append(try result("dunes.jxl").count)
            }
            #expect(sizes[0] < sizes[1])
            #expect(try await convert([file, "-f", "--progressive"]).status == 2)
            #expect(try await convert([file, "-f", "--effort", "0"]).status == 2)
            #expect(try await convert([file, "-f", "--lossless", "--quality", "10"]).status == 2)
        }

        @Test func `an animation stays an animation in JPEG XL`() async throws {
            let outcome = try await convert([Self.tests.appending(path: "GIF/Fixtures/animated.gif").path])

            #expect(outcome.status == 0)
            #expect(outcome.problems == "")
            #expect(try CodecRegistry.programs.inspect(result("animated.jxl")).frameCount == 3)
        }

        @Test func `samples of 16 bits are kept in JPEG XL`() async throws {
            let size = PixelSize(width: 16, height: 16)
            let pixels = try #require(PixelBuffer(size: size, format: .rgba16, alphaMode: .straight))
            let file = directory.url.appending(path: "deep.png")
            try ImageEncoder.png().encode(DecodedImage(pixels: pixels)).write(to: file)

            let outcome = try await convert([file.path])

            #expect(outcome.status == 0)
            #expect(outcome.problems == "")
            #expect(try CodecRegistry.programs.inspect(result("deep.jxl")).bitDepth == 16)
        }

        private func recompress(_ words: [String]) async throws -> Program.Outcome {
            try await alcedo.run(["convert", "--recompress"] + words)
        }

        @Test(arguments: [[], ["--no-sandbox"], ["--max-decoded", "1"]])
        func `a JPEG file is stored as JPEG XL, and reconstructed byte for byte`(options: [String]) async throws {
            let photo = Self.tests.appending(path: "JPEG/Fixtures/exif6.jpg")
            let stored = directory.url.appending(path: "photo.jxl")
            let restored = directory.url.appending(path: "photo.jpg")

            let first = try await recompress(
                [photo.path, "--output", stored.path, "--effort", "3", "--json"] + options)
            let second = try await recompress([stored.path, "--output", restored.path] + options)

            #expect(first.status == 0)
            #expect(first.problems == "")
            #expect(second.status == 0)
            #expect(second.problems == "")
            let line = try JSONLines.objects(first.output).first
            #expect(line?["lost"] as? [String] == [])
            #expect(line?["output"] as? String == stored.path)
            let info = try CodecRegistry.programs.inspect(Data(contentsOf: stored))
            #expect(info.format.rawValue == "jxl")
            #expect(info.metadata.exif != nil)
            #expect(try Data(contentsOf: restored) == Data(contentsOf: photo))
        }

        @Test func `files that cannot be recompressed cost only themselves, and write no lines of libjxl`()
            async throws
        {
            let input = directory.url.appending(path: "in")
            try FileManager.default.createDirectory(at: input, withIntermediateDirectories: true)
            let photo = try Data(contentsOf: Self.tests.appending(path: "JPEG/Fixtures/420.jpg"))
            for index in 0..<6 { try photo.write(to: input.appending(path: "good\(index).jpg")) }
            try photo.prefix(photo.count / 2).write(to: input.appending(path: "truncated.jpg"))
            // libjxl stores at most 4 MiB after the image.
            try (photo + Data(repeating: 7, count: 10 << 20)).write(to: input.appending(path: "tail.jpg"))
            let cmyk = Self.tests.appending(path: "JPEG/Fixtures/cmyk.jpg")
            try Data(contentsOf: cmyk).write(to: input.appending(path: "cmyk.jpg"))

            let outcome = try await recompress([input.path, "--format", "jxl", "--output", output.path])

            let names = try FileManager.default.contentsOfDirectory(atPath: output.path).sorted()
            #expect(outcome.status == 1)
            #expect(names == (0..<6).map { "good\($0).jxl" })
            let problems = outcome.problems.split(separator: "\n")
            #expect(problems.count == 3, "\(outcome.problems)")
            #expect(problems.allSatisfy { $0.hasPrefix("alcedo: ") && $0.contains(".jpg: ") }, "\(outcome.problems)")
        }

        #if Sandbox
            @Test func `a recompression runs in worker processes`() throws {
                let photo = try Data(contentsOf: Self.tests.appending(path: "JPEG/Fixtures/420.jpg"))
                let size = try CodecRegistry.standard.inspect(photo).size
                let limits = DecodingLimits()
                let stored = try Recompressor().convert(.compression, photo, of: size, effort: 3, limits: limits)
                let restored = try Recompressor().convert(.reconstruction, stored, of: size, effort: 3, limits: limits)
                #expect(restored == photo)
                for (direction, file) in [(Recompressor.Direction.compression, photo), (.reconstruction, stored)] {
                    // This process is not prepared for workers, so work that needs them is an error.
                    let error = #expect(throws: ImageDecodingError.self) {
                        try Recompressor(in: ProgramSandbox()).convert(
                            direction, file, of: size, effort: 3, limits: limits)
                    }
                    #expect(error?.code == .decoderUnavailable)
                }
            }

            @Test func `a recompression that could need more memory than a worker has is an error`() throws {
                let recompressor = Recompressor(in: ProgramSandbox())

                try recompressor.check(byteCount: 2 << 30)
                let error = #expect(throws: ImageDecodingError.self) { try recompressor.check(byteCount: 2 << 30 | 1) }

                #expect(error?.code == .exceedsLimit)
                #expect(error?.message.contains("--max-decoded") == true)
                try Recompressor().check(byteCount: .max)
            }

            @Test func `a result of an implausible size is not taken from a worker`() {
                let (size, limits) = (PixelSize(width: 10, height: 10), DecodingLimits(maximumByteCount: 9 << 20))
                let count = { Recompressor.Direction.reconstruction.maximumByteCount(of: $0, size, limits) }

                #expect(Recompressor.Direction.compression.maximumByteCount(of: 1_000, size, limits) == 67_536)
                #expect(count(2_000) == count(1_000) + 2_000)
                #expect(count(64 << 20) == 9 << 20)
            }
        #endif

        @Test(arguments: [
            ["--format", "png"], ["--format", "jxl", "--quality", "80"], ["--format", "jxl", "--lossless"],
            ["--format", "jpeg", "--progressive"], ["--format", "jxl", "--metadata", "strip"],
            ["--format", "jxl", "--processor", "resize:7"], ["--format", "jpeg", "--effort", "3"],
            ["--format", "jxl", "--size", "7"], ["--format", "jxl", "--max-file-size", "7K"],
            ["--format", "jpeg", "--embed-thumbnail"],
        ])
        func `a recompression takes no option that changes the image`(words: [String]) async throws {
            let outcome = try await recompress(["a.jpg", "--output", output.path] + words)

            #expect(outcome.status == 2)
            #expect(outcome.output == "")
        }

        @Test(arguments: [("tiles.png", "jxl"), ("dunes.jpg", "jpeg")])
        func `a recompression of another format is an error`(name: String, format: String) async throws {
            let outcome = try await recompress([
                SampleImages.path(name), "--format", format, "--output", output.path,
            ])

            #expect(outcome.status == 1)
            #expect(outcome.problems.contains(": --recompress makes \(format) of "))
        }

        @Test func `a damaged JPEG XL writes no lines of libjxl, also without the sandbox`() async throws {
            var data = try Data(contentsOf: Self.tests.appending(path: "Fuzz/JXL/Seeds/animation.jxl"))
            let start = data.count * 2 / 3
            data.replaceSubrange(start..<start + 20, with: [UInt8](repeating: 0xFF, count: 20))
            let file = directory.url.appending(path: "damaged.jxl")
            try data.write(to: file)

            let outcome = try await alcedo.run(["inspect", "--no-sandbox", file.path])
            let converted = try await alcedo.run(
                ["convert", "--no-sandbox", file.path, "--format", "png", "--output", output.path])

            for line in (outcome.problems + converted.problems).split(separator: "\n") {
                #expect(line.hasPrefix("alcedo: "))
            }
        }

        @Test(arguments: ["lossy.jxl", "alpha.jxl", "deep.jxl", "jpeg.jxl"])
        func `the loop over libjxl decodes every pixel of an intact JPEG XL`(name: String) throws {
            let data = try Data(contentsOf: Self.tests.appending(path: "Fuzz/JXL/Seeds/\(name)"))
            let bytes = [UInt8](data)

            let count = try CodecRegistry.programs.inspect(data).size.pixelCount
            #expect(alcedo_reference_decode_jxl(bytes, bytes.count) == count)
            #expect(alcedo_reference_decode_jxl(bytes, 24) == 0)
        }
    }
#endif
