#if TIFF
    import Alcedo
    import AlcedoProgramSupport
    import Foundation
    import TestSupport
    import Testing

    /// Tests of the programs' TIFF support.
    @Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
    struct TIFFConvertTests {
        private let directory: TemporaryDirectory
        private let alcedo: Program
        private let output: URL

        init() throws {
            directory = try TemporaryDirectory()
            alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
            output = directory.url.appending(path: "out")
        }

        private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "TIFF/Fixtures")

        private func result(_ name: String) throws -> Data { try Data(contentsOf: output.appending(path: name)) }

        @Test(arguments: [[], ["--no-sandbox"], ["--sandbox"]])
        func `the TIFF files of a directory are converted`(options: [String]) async throws {
            #if !Sandbox
                guard options.isEmpty else { return }
            #endif
            let outcome = try await alcedo.run(
                ["convert", "--format", "png", "--output", output.path, Self.fixtures.path] + options)

            #expect(outcome.status == 0)
            #expect(outcome.problems == "")
            for name in ["lzw", "deep", "tiles-jpeg", "group4", "pages"] {
                let file = try Data(contentsOf: Self.fixtures.appending(path: "\(name).tif"))
                let before = try CodecRegistry.programs.decode(file, options: DecodingOptions(pixelFormat: .rgba16))
                let after = try CodecRegistry.programs.decode(
                    result("\(name).png"), options: DecodingOptions(pixelFormat: .rgba16))
                #expect(after.pixels.tightBytes == before.pixels.tightBytes)
            }
        }

        @Test(arguments: [[], ["--no-sandbox"], ["--sandbox"]])
        func `each page is converted by its index`(options: [String]) async throws {
            #if !Sandbox
                guard options.isEmpty else { return }
            #endif
            let file = directory.url.appending(path: "scan.tif")
            try Data.grayTIFF(pages: [(3, 10), (5, 20), (4, 30)]).write(to: file)
            func run(_ words: [String]) async throws -> Program.Outcome { try await alcedo.run(words + options) }

            for (page, width, level) in [(0, 3, 10), (1, 5, 20), (2, 4, 30)] as [(Int, Int, UInt8)] {
                let outcome = try await run([
                    "convert", file.path, "--frame", "\(page)", "--format", "png", "-f", "--output", output.path,
                ])
                #expect(outcome.status == 0, "\(outcome.problems)")
                let image = try CodecRegistry.programs.decode(result("scan.png"))
                #expect(image.size == PixelSize(width: width, height: 2))
                #expect(image.pixels.tightBytes.first == level)
            }
            let missing = try await run([
                "convert", file.path, "--frame", "3", "--format", "png", "-f", "--output", output.path,
            ])
            #expect(missing.status == 1)
            #expect(missing.problems.contains("there is no page 3: the file has 3"), "\(missing.problems)")

            let report = try #require(try JSONLines.objects(await run(["inspect", "--json", file.path]).output).first)
            #expect(report["pageCount"] as? Int == 3)
            #expect(report["frameCount"] as? Int == 1)
            #expect(try await run(["inspect", file.path]).output.contains("  3 pages\n"))
        }

        @Test func `a TIFF file has every pixel, and no options of other formats`() async throws {
            func convert(_ words: [String]) async throws -> Program.Outcome {
                try await alcedo.run(["convert", "--format", "tiff", "--output", output.path] + words)
            }
            let file = SampleImages.path("tiles.png")
            #expect(try await convert([file, "--resolution", "300"]).status == 0)

            let before = try CodecRegistry.programs.decode(SampleImages.data("tiles.png"))
            let after = try CodecRegistry.programs.decode(result("tiles.tif"))
            #expect(after.pixels.tightBytes == before.pixels.tightBytes)
            let resolution = try CodecRegistry.programs.inspect(result("tiles.tif")).metadata.resolution
            #expect(resolution == ImageResolution(pixelsPerInch: 300))
            #expect(try await convert([file, "-f", "--lossless"]).status == 0)
            for option in [["--quality", "80"], ["--effort", "3"], ["--progressive"], ["--keep-delays"]] {
                #expect(try await convert([file, "-f"] + option).status == 2)
            }
        }

        @Test func `the compression is the requested one`() async throws {
            var sizes: [String: Int] = [:]
            for name in ["none", "lzw", "deflate"] {
                let outcome = try await alcedo.run([
                    "convert", SampleImages.path("tiles.png"), "--format", "tiff", "-f", "--output", output.path,
                    "--compression", name,
                ])
                #expect(outcome.status == 0, "\(outcome.problems)")
                let data = try result("tiles.tif")
                let before = try CodecRegistry.programs.decode(SampleImages.data("tiles.png"))
                #expect(try CodecRegistry.programs.decode(data).pixels.tightBytes == before.pixels.tightBytes)
                sizes[name] = data.count
            }
            #expect(Set(sizes.values).count == 3)
            #expect(sizes["none"] == sizes.values.max())
            let unknown = try await alcedo.run([
                "convert", "a.png", "--format", "tiff", "--output", output.path, "--compression", "jpeg",
            ])
            #expect(unknown.status == 2)
            #expect(unknown.problems.contains("--compression needs deflate, lzw or none, not 'jpeg'"))
        }

        #if Sandbox
            @Test func `programs decode TIFF in worker processes`() throws {
                let isolated = CodecRegistry.programs.isolated(in: ProgramSandbox())
                let entry = try #require(isolated.entries.first { $0.format.rawValue == "tiff" })

                // The process of the tests cannot be a worker.
                #expect(String(describing: type(of: entry.decoder)) == "WorkerDecoder")
            }
        #endif
    }
#endif
