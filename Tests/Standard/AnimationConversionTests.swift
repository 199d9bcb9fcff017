import Alcedo
#if AVIF
    import AlcedoAVIF
#endif
#if JXL
    import AlcedoJXL
#endif
import AlcedoProgramSupport
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Conversions of animations at another size, whose frames must not all be in memory.
@Suite(.timeLimit(.minutes(5)))
struct AnimationConversionTests {
    private static let encoders: [ImageEncoder] = {
        var encoders: [ImageEncoder] = [
            .gif(), .png(usesPaletteWhenLossless: false), .webp(method: 0), .webp(lossless: true, method: 0),
        ]
        #if AVIF
            encoders.append(.avif(speed: 10))
        #endif
        #if JXL
            encoders.append(.jxl(effort: 1))
        #endif
        return encoders
    }()

    /// The images that are in memory, and the largest number of them so far.
    private struct LivingImages: Sendable {
        private var references: [@Sendable () -> DecodedImage?] = []
        private(set) var maximum = 0
        private(set) var total = 0

        mutating func add(_ pixels: PixelBuffer) {
            references.removeAll { $0() == nil }
            if let reference = DecodedImage(pixels: pixels).weakReference { references.append(reference) }
            maximum = max(maximum, references.count)
            total += 1
        }
    }

    /// Frames that are drawn when they are requested.
    private struct DrawnFrames: ImageFrameSource {
        let canvasSize = PixelSize(width: 32, height: 24)
        let frameCount: Int
        let playCount: Int? = 2
        let cost = 0
        let reads = Watched<[Int]>([])
        let living = Watched(LivingImages())

        func delay(at index: Int) -> Duration { .milliseconds(40) }

        func rawDelay(at index: Int) -> Duration { .milliseconds(40) }

        func frame(at index: Int) throws -> PixelBuffer {
            reads.update { $0.append(index) }
            let pixels = try draw(index)
            living.update { $0.add(pixels) }
            return pixels
        }

        /// Draws a color that differs from that of the frame before.
        func draw(_ index: Int) throws -> PixelBuffer {
            let level = UInt8(index % 2 == 0 ? 20 + index : 220 - index)
            let pixels = PixelBuffer(size: canvasSize, format: .rgba8, alphaMode: .opaque) { memory, _ in
                for offset in memory.indices { memory[offset] = offset % 4 == 3 ? 255 : level }
            }
            guard let pixels else { throw ImageDecodingError.noMemory(for: canvasSize) }
            return pixels
        }
    }

    private struct FramesDecoder: ImageDecoding {
        let frames: DrawnFrames

        func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            let info = ImageInfo(format: .png, size: frames.canvasSize, frameCount: frames.frameCount)
            return WholeImageReader(info) { _ throws(ImageDecodingError) in
                guard let first = try? frames.draw(0) else { throw ImageDecodingError.noMemory(for: info.size) }
                var image = DecodedImage(pixels: first)
                image.frames = frames
                return image
            }
        }
    }

    private static let signature: [UInt8?] = [0x89, 0x50, 0x4E, 0x47]
    private static let file = Data(signature.compactMap { $0 })

    private static func codecs(of frames: DrawnFrames) -> CodecRegistry {
        CodecRegistry([
            CodecRegistry.Entry(format: .png, decoder: FramesDecoder(frames: frames), signatures: [signature])
        ])
    }

    /// Converts frames to half their size, and records the processed ones.
    private func convert(
        _ frames: DrawnFrames, to encoder: ImageEncoder
    ) throws -> (info: ImageInfo, processed: LivingImages) {
        let processed = Watched(LivingImages())
        let counted: ImageProcessors.BuiltIn = .closure(identifier: "counted") { image in
            processed.update { $0.add(image.pixels) }
            return image
        }
        let converter = ImageConverter(codecs: Self.codecs(of: frames), processors: [.everyFrame(counted)])
        let converted = try converter.convert(Self.file, to: encoder, fitting: PixelSize(width: 16, height: 16))
        return (try CodecRegistry.programs.inspect(converted), processed.value)
    }

    @Test(arguments: encoders, [3, 60])
    func `frames are decoded, processed and encoded one at a time`(encoder: ImageEncoder, frameCount: Int) throws {
        let frames = DrawnFrames(frameCount: frameCount)
        let (info, processed) = try convert(frames, to: encoder)

        #expect(info.size == PixelSize(width: 16, height: 12))
        #expect(info.frameCount == frameCount)
        // In order, and once, so that a decoder draws each frame on the canvas of the one before.
        #expect(frames.reads.value == Array(0..<frameCount))
        // The encoder reads one frame ahead. The image itself has the first frame, too.
        #expect(processed.total == frameCount + 1)
        #expect(frames.living.value.maximum <= 3)
        #expect(processed.maximum <= 4)
    }

    @Test(arguments: [ImageEncoder.png(), .png(maximumColorCount: 16)])
    func `the colors of a palette are found one frame at a time`(encoder: ImageEncoder) throws {
        let frames = DrawnFrames(frameCount: 60)
        let (info, processed) = try convert(frames, to: encoder)

        #expect(info.colorModel == .palette)
        #expect(info.frameCount == 60)
        // Two frames are read ahead, and two in the pass that finds the colors.
        #expect(frames.living.value.maximum <= 3)
        #expect(processed.maximum <= 6)
    }

    @Test(arguments: [0, 1, 5], [DamageTolerance.wrongPixels, .missingPixels])
    func `a selected frame becomes a still image, and no other frame is read`(
        index: Int, tolerance: DamageTolerance
    ) throws {
        let frames = DrawnFrames(frameCount: 6)
        var converter = ImageConverter(codecs: Self.codecs(of: frames), tolerance: tolerance)
        converter.frame = index

        let still = try converter.convert(Self.file, to: .webp(lossless: true))

        let image = try CodecRegistry.standard.decode(still)
        #expect(!image.isAnimated)
        let expected = try frames.draw(index)
        #expect(image.pixels.straightRGBA(rowCount: 24) == expected.straightRGBA(rowCount: 24))
        // The decoder has drawn the first frame already.
        #expect(frames.reads.value == (index == 0 ? [] : [index]))
    }

    @Test(arguments: [-1, 6])
    func `a frame that the animation does not have is an error`(index: Int) throws {
        var converter = ImageConverter(codecs: Self.codecs(of: DrawnFrames(frameCount: 6)))
        converter.frame = index

        let error = #expect(throws: ImageProcessingError.self) { try converter.convert(Self.file, to: .png()) }

        #expect(error?.code == .invalidParameter)
        #expect(error.map { "\($0)" }?.contains("the image has no frame \(index); the last frame is 5") == true)
    }

    @Test func `a still image has one frame`() throws {
        let file = try ImageEncoder.png().encode(.gray(side: 8, level: 9))
        let still = try ImageConverter(frame: 0).convert(file, to: .png())

        #expect(try CodecRegistry.standard.inspect(still).size == PixelSize(width: 8, height: 8))
        #expect(throws: ImageProcessingError.self) { try ImageConverter(frame: 1).convert(file, to: .png()) }
    }

    @Test(arguments: [0, 3])
    func `the still image of an animation does not wait for the memory of all frames`(index: Int) async throws {
        let frames = DrawnFrames(frameCount: 60)
        let encoder = ImageEncoder.webp(method: 0)
        let needed = encoder.encodingByteCount(of: frames.canvasSize, format: .rgba8, frameCount: frames.frameCount)
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.maximumDecodingByteCount = needed - 1
        let queue = ImageConversionQueue(sharingBudgetOf: ImagePipeline(configuration))
        var converter = ImageConverter(codecs: Self.codecs(of: frames), queue: queue)

        let error = await #expect(throws: ImageDecodingError.self) {
            try await converter.convert(Self.file, to: encoder)
        }
        #expect(error?.code == .exceedsLimit)
        converter.frame = index
        let still = try await converter.convert(Self.file, to: encoder)

        #expect(try CodecRegistry.standard.inspect(still).frameCount == 1)
    }
}
