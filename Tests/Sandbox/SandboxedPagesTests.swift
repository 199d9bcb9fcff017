#if Sandbox
    import AlcedoCore
    import AlcedoSandbox
    import Foundation
    import Testing

    extension SandboxTests {
        @Suite struct SandboxedPagesTests {
            /// The app's decoder of the format with pages, which decodes nothing: only the worker does.
            private struct AppDecoder: PageDecoding {
                var page: Int

                func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
                    throw ImageDecodingError(.decoderUnavailable, "not in a worker")
                }
            }

            private static func codecs(page: Int, in sandbox: Sandbox) -> CodecRegistry {
                let entry = CodecRegistry.Entry(
                    format: ImageFormat(rawValue: "paged"), decoder: AppDecoder(page: page),
                    signatures: [Array("paged".utf8)])
                return CodecRegistry([entry]).sandboxed(in: sandbox)
            }

            @Test func `a worker decodes the page that the app selects`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let file = Data("paged".utf8)

                /// Decodes the image, and opens it again for its properties. Releases the worker.
                func info(_ reader: any ImageReading) throws -> ImageInfo {
                    #expect(try reader.decode(DecodingOptions()).size == reader.header.size)
                    return try reader.info()
                }

                for page in [0, 2, 1] {
                    let selected = try info(Self.codecs(page: page, in: sandbox).open(file))
                    #expect(selected.size.width == page + 1)
                    #expect(selected.pageCount == 3)
                    let other = try info(
                        Self.codecs(page: 0, in: sandbox).open(file, page: page, limits: DecodingLimits()))
                    #expect(other.size.width == page + 1)
                }
                #expect(try SandboxedDecoder(ImageFormat(rawValue: "paged"), in: sandbox).inspect(file).size.width == 1)
            }

            @Test(arguments: [-1, 3])
            func `a page that the file does not have is the error of the decoder`(page: Int) throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                let error = #expect(throws: ImageDecodingError.self) {
                    _ = try Self.codecs(page: page, in: sandbox).open(Data("paged".utf8))
                }

                #expect(error?.code == .unsupportedVariant)
            }
        }
    }
#endif
