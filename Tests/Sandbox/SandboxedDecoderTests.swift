#if Sandbox
    import AlcedoCodecs
    import AlcedoCore
    import AlcedoSandbox
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    extension SandboxTests {
        @Suite struct SandboxedDecoderTests {
            private static func file(_ format: ImageFormat, _ size: PixelSize) throws -> Data {
                try #require(CodecRegistry.standard.encoder(for: format, quality: 0.9)).encode(.coordinates(size))
            }

            @Test(arguments: [ImageFormat.png, .jpeg, .gif, .webp])
            func `an image equals that of the decoder without sandbox`(format: ImageFormat) throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let boxed = CodecRegistry.standard.sandboxed(in: sandbox)
                let data = try Self.file(format, PixelSize(width: 301, height: 203))
                for target in [nil, TargetSize(width: 40, height: 40)] {
                    for alphaMode in [AlphaMode.straight, .premultiplied] {
                        let options = DecodingOptions(alphaMode: alphaMode, target: target)

                        let expected = try CodecRegistry.standard.decode(data, options: options)
                        let image = try boxed.decode(data, options: options)

                        #expect(image.pixels == expected.pixels)
                        #expect(image.format == format)
                        #expect(image.orientation == expected.orientation)
                        #expect(image.colorProfile == expected.colorProfile)
                        #expect(!image.isAnimated)
                    }
                }
                #expect(try boxed.inspect(data) == CodecRegistry.standard.inspect(data))
                #expect(sandbox.statistics.startedWorkers == 1)
            }

            @Test func `a codec in a sandbox has no asynchronous decoder, which pipelines would prefer`() throws {
                struct Remote: AsyncImageDecoding {
                    func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
                        ImageInfo(format: .png, size: PixelSize(width: 1, height: 1))
                    }

                    func decode(
                        _ data: Data, options: DecodingOptions, priority: PriorityHandle
                    ) async throws -> DecodedImage {
                        .gray(side: 1)
                    }
                }
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                var entry = CodecRegistry.Entry.png
                entry.asyncDecoder = Remote()
                let codecs = CodecRegistry([entry])
                let data = try Self.file(.png, PixelSize(width: 2, height: 2))

                #expect(codecs.asyncDecoder(for: data) != nil)
                #expect(codecs.sandboxed(in: sandbox).asyncDecoder(for: data) == nil)
            }

            @Test(arguments: [false, true])
            func `rows that are copied during decoding are those of the image`(isTruncated: Bool) throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                // Several pieces of 512 KiB. The partial image of a truncated file is decoded in a second attempt.
                var data = try Self.file(.jpeg, PixelSize(width: 1_203, height: 801))
                if isTruncated { data.removeLast(data.count / 3) }
                let options = DecodingOptions(allowsPartial: isTruncated)

                let image = try CodecRegistry.standard.sandboxed(in: sandbox).decode(data, options: options)

                #expect(image.pixels == (try CodecRegistry.standard.decode(data, options: options)).pixels)
                #expect((image.partialError != nil) == isTruncated)
                #expect(sandbox.statistics.violations == 0)
            }

            @Test(arguments: [("early", [1, 2]), ("earlyDropped", [3, 3])])
            func `a decoder can give up rows that it has finished`(file: String, samples: [UInt8]) throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                let image = try SandboxedDecoder(.hostile, in: sandbox).decode(
                    Data(file.utf8), options: DecodingOptions())

                let bytes = image.pixels.tightBytes
                #expect(bytes.prefix(bytes.count / 2).allSatisfy { $0 == samples[0] })
                #expect(bytes.suffix(bytes.count / 2).allSatisfy { $0 == samples[1] })
            }

            @Test func `the profile, the orientation and the metadata of an image are kept`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let decoder = SandboxedDecoder(.webp, in: sandbox)
                var original = DecodedImage.coordinates(PixelSize(width: 30, height: 20))
                original.colorProfile = Data("a profile of odd length".utf8)
                original.orientation = .right
                let data = try ImageEncoder.webp(lossless: true).encode(original)
                let options = DecodingOptions(appliesOrientation: false)
                let collector = PixelRowCollector()

                let image = try decoder.decode(data, options: options)
                try decoder.decodeRows(data, options: options, into: collector)
                let info = try decoder.inspect(data, limits: options.limits)

                for result in [image, try #require(collector.image)] {
                    #expect(result.colorProfile == original.colorProfile)
                    #expect(result.orientation == .right)
                }
                #expect(info == (try CodecRegistry.standard.inspect(data)))
                #expect(info.metadata.exif != nil)
            }

            @Test(arguments: DecoderConformance.checks)
            func `a PNG decoder in the sandbox conforms`(to check: DecoderConformance.Check) async throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let file = try Self.file(.png, PixelSize(width: 7, height: 5))

                try await check { _ in (SandboxedDecoder(.png, in: sandbox), file) }

                #expect(sandbox.statistics.crashes == 0)
            }

            @Test func `the error of the decoder keeps its code and message`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let data = Data(try Self.file(.jpeg, PixelSize(width: 64, height: 64)).prefix(400))
                var errors: [ImageDecodingError] = []
                for registry in [CodecRegistry.standard, CodecRegistry.standard.sandboxed(in: sandbox)] {
                    let error = #expect(throws: ImageDecodingError.self) { _ = try registry.decode(data) }
                    errors.append(try #require(error))
                }

                #expect(errors[0] == errors[1])
                #expect(errors[0].code == .truncated)
            }

            @Test func `a partial image has its error`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let file = try Self.file(.png, PixelSize(width: 64, height: 64))
                let options = DecodingOptions(allowsPartial: true)

                let image = try SandboxedDecoder(.png, in: sandbox).decode(
                    Data(file.prefix(file.count / 2)), options: options)

                #expect(image.partialError?.code == .truncated)
            }

            @Test func `large rows arrive in several pieces`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let data = try Self.file(.jpeg, PixelSize(width: 1_200, height: 900))
                let collector = PixelRowCollector()

                try SandboxedDecoder(.jpeg, in: sandbox).decodeRows(data, options: DecodingOptions(), into: collector)

                #expect(collector.image?.pixels == (try CodecRegistry.standard.decode(data).pixels))
            }

            @Test(arguments: [0, 1, 700, 899])
            func `an error of the consumer ends the decoding and not the worker`(row: Int) throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let data = try Self.file(.jpeg, PixelSize(width: 1_200, height: 900))

                #expect(throws: FailingConsumer.Failure.self) {
                    try SandboxedDecoder(.jpeg, in: sandbox)
                        .decodeRows(data, options: DecodingOptions(), into: FailingConsumer(at: row))
                }

                try sandbox.checkOrdinaryImage()
                #expect(sandbox.statistics.startedWorkers == 1)
            }

            @Test func `too large an image exceeds the limit`() throws {
                let sandbox = try Sandbox.testing { $0.maximumOutputByteCount = 64 << 10 }
                defer { sandbox.shutDown() }

                #expect(sandbox.error(of: "gray 400")?.code == .exceedsLimit)
                let data = Data(count: 17 << 20)
                #expect(SandboxedDecoder(.png, in: sandbox).errorCode(data) == .exceedsLimit)
                try sandbox.checkOrdinaryImage()
                #expect(sandbox.statistics.startedWorkers == 1)
            }
        }
    }

    private final class FailingConsumer: PixelRowConsumer {
        struct Failure: Error {}

        private let last: Int
        private var count = 0

        init(at last: Int) { self.last = last }

        func begin(_ header: PixelRowHeader) throws {
            if last == 0 { throw Failure() }
        }

        func consume(_ row: RawSpan) throws {
            count += 1
            if count > last { throw Failure() }
        }

        func finish() throws {}
    }
#endif
