#if SVG
    import Alcedo
    import AlcedoProgramSupport
    import CReferenceDecoders
    import Foundation
    import TestSupport
    import Testing

    /// Tests of the tool's SVG support and of the C loop of `alcedo-bench decode`.
    @Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
    struct SVGInputTests {
        private let directory: TemporaryDirectory
        private let alcedo: Program
        private let output: URL
        private let file: URL

        init() throws {
            directory = try TemporaryDirectory()
            alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
            output = directory.url.appending(path: "out")
            file = directory.url.appending(path: "icon.svg")
            let text = """
                <svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="9" height="10"/></svg>
                """
            try Data(text.utf8).write(to: file)
        }

        private func result(_ name: String) throws -> DecodedImage {
            try CodecRegistry.standard.decode(Data(contentsOf: output.appending(path: name)))
        }

        @Test func `an SVG is inspected and converted at its natural size`() async throws {
            let report = try await alcedo.run(["inspect", "--json", directory.url.path])
            let outcome = try await alcedo.run(["convert", file.path, "--format", "png", "--output", output.path])

            #expect(report.status == 0)
            #expect(report.output.contains("\"svg\""))
            #expect(outcome.status == 0)
            #expect(outcome.problems == "")
            let image = try result("icon.png")
            #expect(image.size == PixelSize(width: 20, height: 10))
            #expect(image.pixels.rgba(8, 5) == [0, 0, 0, 255])
            #expect(image.pixels.rgba(9, 5) == [0, 0, 0, 0])
        }

        @Test func `a thumbnail of an SVG is drawn at the size of the thumbnail`() async throws {
            let outcome = try await alcedo.run(
                ["thumbnail", file.path, "--size", "200", "--format", "png", "--output", output.path])

            #expect(outcome.status == 0)
            #expect(try result("icon.png").size == PixelSize(width: 200, height: 100))
        }

        @Test func `the loop over librsvg draws every pixel`() throws {
            let bytes = try [UInt8](Data(contentsOf: file))

            #expect(alcedo_reference_decode_svg(bytes, bytes.count) == 200)
            #expect(alcedo_reference_decode_svg(bytes, 24) == 0)
            #expect(alcedo_reference_draw_svg(bytes, bytes.count, 300) == 300 * 150)
        }
    }
#endif
