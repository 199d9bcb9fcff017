#if Sandbox
    import AlcedoCodecs
    import AlcedoCore
    import AlcedoSandbox
    import Foundation
    import TestSupport
    import Testing

    extension SandboxTests {
        @Suite struct SandboxedFramesTests {
            private static let size = PixelSize(width: 40, height: 30)
            private static let count = 6

            /// An animated file whose frames differ.
            private static func file() throws -> Data {
                let frames: [(pixels: PixelBuffer?, delay: Duration)] = (0..<count).map { index in
                    let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, _ in
                        for offset in memory.indices {
                            memory[offset] = offset % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: 40 * index + offset % 4)
                        }
                    }
                    return (pixels: pixels, delay: Duration.milliseconds(50 + 10 * index))
                }
                var image = DecodedImage(pixels: try #require(frames[0].pixels))
                image.frames = MadeFrames(size, playCount: 3, frames)
                return try ImageEncoder.webp(lossless: true).encode(image)
            }

            @Test(arguments: [1, 2, 1_000])
            func `frames equal those without sandbox in any order`(requestsPerWorker: Int) throws {
                let sandbox = try Sandbox.testing(workers: 2) { $0.requestsPerWorker = requestsPerWorker }
                defer { sandbox.shutDown() }
                let data = try Self.file()
                let expected = try #require(try CodecRegistry.standard.decode(data).frames)

                let image = try CodecRegistry.standard.sandboxed(in: sandbox).decode(data)

                let frames = try #require(image.frames)
                #expect(frames.frameCount == Self.count)
                #expect(frames.canvasSize == Self.size)
                #expect(frames.playCount == expected.playCount)
                for index in [0, 1, 2, 3, 4, 5, 2, 5, 0] {
                    #expect(try frames.frame(at: index) == expected.frame(at: index))
                    #expect(frames.delay(at: index) == expected.delay(at: index))
                    #expect(frames.rawDelay(at: index) == expected.rawDelay(at: index))
                }
            }

            @Test func `a damaged frame ends the animation as without sandbox`() throws {
                let sandbox = try Sandbox.testing(workers: 2)
                defer { sandbox.shutDown() }
                var data = try Self.file()
                // The Huffman codes of the last frame become invalid.
                let last = try #require(data.range(of: Data("VP8L".utf8), options: .backwards)).upperBound
                for offset in last + 9..<data.count { data[offset] = 0xFF }
                let plain = try #require(try CodecRegistry.standard.decode(data).frames)

                let frames = try #require(try CodecRegistry.standard.sandboxed(in: sandbox).decode(data).frames)

                for index in 0..<Self.count - 1 { #expect(try frames.frame(at: index) == plain.frame(at: index)) }
                #expect(frames.frameCount == Self.count)
                #expect(frames.damage == nil)
                for _ in 0..<2 {
                    #expect(throws: ImageDecodingError.self) { try frames.frame(at: Self.count - 1) }
                    #expect(throws: ImageDecodingError.self) { try plain.frame(at: Self.count - 1) }
                }
                #expect(frames.frameCount == Self.count - 1)
                #expect(frames.damage == plain.damage)
            }

            @Test func `a worker switches between more animations than it keeps`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let data = try Self.file()
                let expected = try #require(try CodecRegistry.standard.decode(data).frames)
                let codecs = CodecRegistry.standard.sandboxed(in: sandbox)

                let animations = try (0..<7).map { _ in try #require(try codecs.decode(data).frames) }

                for index in 0..<Self.count {
                    for animation in animations {
                        #expect(try animation.frame(at: index) == expected.frame(at: index))
                    }
                }
                #expect(sandbox.statistics.startedWorkers == 1)
            }

            @Test func `growth does not replace a worker whose animation is in use`() throws {
                let sandbox = try Sandbox.testing { $0.maximumGrowthByteCount = 0 }
                defer { sandbox.shutDown() }
                var frames = try CodecRegistry.standard.sandboxed(in: sandbox).decode(try Self.file()).frames
                let count = sandbox.statistics.recycledWorkers

                for index in 0..<Self.count { _ = try #require(try frames?.frame(at: index)) }

                #expect(sandbox.statistics.recycledWorkers == count)
                frames = nil
                try sandbox.checkOrdinaryImage()
                #expect(sandbox.statistics.recycledWorkers == count + 1)
            }

            @Test func `without its animation, an image is still`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                let image = try CodecRegistry.standard.sandboxed(in: sandbox)
                    .decode(try Self.file(), options: DecodingOptions(includesAnimation: false))

                #expect(!image.isAnimated)
            }
        }
    }
#endif
