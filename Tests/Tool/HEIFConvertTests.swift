#if HEIF
    import Alcedo
    import AlcedoProgramSupport
    import CReferenceDecoders
    import Foundation
    import TestSupport
    import Testing

    /// Tests of the programs' HEIF support and of the C loop of `alcedo-bench decode`.
    @Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
    struct HEIFConvertTests {
        private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "HEIF/Fixtures")

        @Test(arguments: ["half.heic", "gray.heic", "deep.heic"])
        func `the loop over libheif decodes every pixel of an intact HEIF`(name: String) throws {
            let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: name)))

            #expect(alcedo_reference_decode_heif(bytes, bytes.count) == 64 * 64)
            #expect(alcedo_reference_decode_heif(bytes, 24) == 0)
        }

        @Test func `programs decode HEIF only in worker processes`() throws {
            let data = try Data(contentsOf: Self.fixtures.appending(path: "half.heic"))
            #if Sandbox
                let format = CodecRegistry.programs.entry(for: data)?.format
                #expect(format?.rawValue == "heif")
            #else
                #expect(CodecRegistry.programs.entry(for: data) == nil)
            #endif
        }

        #if Sandbox
            @Test func `a HEIF is converted, and found in its directory by its extension`() async throws {
                let directory = try TemporaryDirectory()
                let alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
                let output = directory.url.appending(path: "out")

                let outcome = try await alcedo.run([
                    "convert", "--format", "png", "--output", output.path, Self.fixtures.path,
                ])

                #expect(outcome.status == 0)
                #expect(outcome.problems == "")
                let image = try CodecRegistry.programs.decode(Data(contentsOf: output.appending(path: "half.png")))
                #expect(image.size == PixelSize(width: 64, height: 64))
            }
        #endif
    }
#endif
