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

    /// Converts frames to half their size, and records the processed ones.
    private func convert(
        _ frames: DrawnFrames, to encoder: ImageEncoder
    ) throws -> (info: ImageInfo, processed: LivingImages) {
        let signature: [UInt8?] = [0x89, 0x50, 0x4E, 0x47]
        let codecs = CodecRegistry([
            CodecRegistry.Entry(format: .png, decoder: FramesDecoder(frames: frames), signatures: [signature])
        ])
        let processed = Watched(LivingImages())
        let counted: ImageProcessors.BuiltIn = .closure(identifier: "counted") { image in
            processed.update { $0.add(image.pixels) }
            return image
        }
        let converter = ImageConverter(codecs: codecs, processors: [.everyFrame(counted)])
        let file = Data(signature.compactMap { $0 })
        let converted = try converter.convert(file, to: encoder, fitting: PixelSize(width: 16, height: 16))
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
}
