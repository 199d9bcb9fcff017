#if SVG && Sandbox
    import Alcedo
    import AlcedoProgramSupport
    import AlcedoSandbox
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    /// Tests of the tool's decoders in worker processes.
    @Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
    struct WorkerInputTests {
        private let directory: TemporaryDirectory
        private let alcedo: Program
        private let input: URL
        private let output: URL

        init() throws {
            directory = try TemporaryDirectory()
            alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
            input = directory.url.appending(path: "in")
            output = directory.url.appending(path: "out")
            try FileManager.default.createDirectory(at: input, withIntermediateDirectories: true)
        }

        private func write(_ name: String, _ content: String) throws {
            let text = """
                <svg xmlns="http://www.w3.org/2000/svg" width="20" height="10">\(content)</svg>
                """
            try Data(text.utf8).write(to: input.appending(path: name))
        }

        @Test(arguments: [[], ["--no-sandbox"]])
        func `a drawing that makes librsvg panic costs one image of a directory`(options: [String]) async throws {
            let panic = """
                <filter id="f"><feFlood x="100" width="1"/><feTile/></filter>
                <rect width="9" height="9" filter="url(#f)"/>
                """
            for index in 0..<6 { try write("good\(index).svg", "<rect width='9' height='9'/>") }
            try write("bad.svg", panic)
            try SampleImages.data("tiles.png").write(to: input.appending(path: "z.png"))

            let outcome = try await alcedo.run(
                ["thumbnail", input.path, "--size", "20", "--format", "png", "--output", output.path] + options)

            let names = try FileManager.default.contentsOfDirectory(atPath: output.path).sorted()
            let good = (0..<6).map { "good\($0).png" }
            if names.contains("bad.png") {
                // A later version of librsvg draws the document.
                #expect(outcome.status == 0)
                #expect(names == ["bad.png"] + good + ["z.png"])
            } else {
                #expect(outcome.status == 1)
                #expect(names == good + ["z.png"])
                let problems = outcome.problems.split(separator: "\n").filter { $0.hasPrefix("alcedo: ") }
                #expect(problems.count == 1, "\(outcome.problems)")
                #expect(problems.first?.contains("bad.svg: ") == true, "\(outcome.problems)")
            }
        }

        @Test(arguments: [[], ["--no-sandbox"]])
        func `a drawing of which Pango warns, and an embedded drawing, write no lines and are drawn`(
            options: [String]
        ) async throws {
            try write("text.svg", "<text y='9' font-size='1e9'>x</text>")
            let inner = "data:image/svg+xml,%3Csvg xmlns=&quot;http://www.w3.org/2000/svg&quot;/%3E"
            try write("embedded.svg", "<image width='9' height='9' href='\(inner)'/>")

            let outcome = try await alcedo.run(
                ["thumbnail", input.path, "--size", "20", "--format", "png", "--output", output.path] + options)

            #expect(outcome.status == 0, "\(outcome.problems)")
            #expect(outcome.problems == "")
        }

        @Test(arguments: [[], ["--no-sandbox"]])
        func `slow drawings do not make others fail`(options: [String]) async throws {
            let points = (0..<4_000).map { "\($0 * 7919 % 1000),\($0 * 104_729 % 997)" }.joined(separator: "L")
            for index in 0..<3 { try write("slow\(index).svg", "<path fill-rule='evenodd' d='M\(points)'/>") }
            let group = String(repeating: "<g>", count: 40)
            let end = String(repeating: "</g>", count: 40)
            for index in 0..<12 { try write("good\(index).svg", "\(group)<rect width='9' height='9'/>\(end)") }

            let outcome = try await alcedo.run(
                ["thumbnail", input.path, "--size", "20", "--format", "png", "--output", output.path] + options)

            let names = try FileManager.default.contentsOfDirectory(atPath: output.path)
            #expect(names.count { $0.hasPrefix("good") } == 12, "\(outcome.problems)")
        }

        @Test func `a run without formats that need workers starts none`() throws {
            let codecs = CodecRegistry.programs.isolated(in: ProgramSandbox())

            // This process is not prepared for workers, so decoding a format that needs them would be an error.
            #expect(try codecs.decode(SampleImages.data("tiles.png")).size == PixelSize(width: 512, height: 512))
        }

        @Test func `without workers, no format is decoded with --sandbox`() {
            var configuration = SandboxConfiguration()
            configuration.executable = "/nonexistent"
            let codecs = CodecRegistry.programs.isolated(in: ProgramSandbox(configuration), everyFormat: true)

            #expect(codecs.entries.count == CodecRegistry.programs.entries.count)
            for entry in codecs.entries {
                let error = #expect(throws: ImageDecodingError.self) {
                    _ = try entry.decoder.open(Data("image".utf8), limits: DecodingLimits())
                }
                #expect(error?.code == .decoderUnavailable, "\(entry.format)")
            }
        }

        @Test func `with --sandbox, every format gives the files that it gives without`() async throws {
            try write("drawing.svg", "<rect width='9' height='9'/>")
            let image = DecodedImage.coordinates(PixelSize(width: 40, height: 30))
            for encoder in [ImageEncoder.png(), .jpeg(), .gif(), .webp()] {
                let file = input.appending(path: "\(encoder.format)-image.\(encoder.format)")
                try encoder.encode(image).write(to: file)
            }
            var files: [[String: Data]] = []
            for (index, options) in [[], ["--sandbox"]].enumerated() {
                let output = output.appending(path: "\(index)")
                let outcome = try await alcedo.run(
                    ["thumbnail", input.path, "--size", "20", "--format", "png", "--output", output.path] + options)
                #expect(outcome.status == 0, "\(outcome.problems)")
                #expect(outcome.problems == "")
                let names = try FileManager.default.contentsOfDirectory(atPath: output.path)
                files.append(
                    try Dictionary(
                        uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: output.appending(path: $0))) }))
            }
            #expect(files[0].count == 5)
            #expect(files[0] == files[1])
        }
    }
#endif
