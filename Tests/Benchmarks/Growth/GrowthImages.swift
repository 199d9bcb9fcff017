import Alcedo
import AlcedoTesting
import Foundation

extension GrowthGroup {
    /// The groups that measure decoding and processing.
    static let imageGroups = [
        GrowthGroup("frames of an animation") { count, _ in try await frames(count) },
        GrowthGroup("pixels of an image", sizes: powers(2...8)) { count, _ in try await pixels(count) },
        // The consumers of the rows call each other, so that a million would need a large stack.
        GrowthGroup("processors in a chain", sizes: powers(1...4)) { count, _ in try await processors(count) },
    ]

    /// Measures the decode of all frames of a GIF of 8 x 8 pixels, in order.
    private static func frames(_ count: Int) async throws -> [GrowthSeries] {
        let file = try ImageEncoder.gif().encode(GrowthImages.animation(frameCount: count))
        var options = DecodingOptions()
        (options.limits.maximumFrameCount, options.limits.maximumTotalPixelCount) = (.max, .max)
        return [
            try await measured("GIF of n frames, decode", count) {
                let image = try CodecRegistry.standard.decode(file, options: options)
                guard let frames = image.frames, frames.frameCount == count else {
                    throw BenchError(description: "the animation has lost frames")
                }
                for index in 0..<count { _ = try frames.frame(at: index) }
            }
        ]
    }

    /// Measures the decode of a square PNG. The size of the series is the number of its pixels.
    private static func pixels(_ count: Int) async throws -> [GrowthSeries] {
        let side = Int(Double(count).squareRoot())
        let file = try PNGEncoder().encode(try GrowthImages.gradient(PixelSize(width: side, height: side)))
        return [
            try await measured("PNG of n pixels, decode", side * side) {
                guard try CodecRegistry.standard.decode(file).size.pixelCount == side * side else {
                    throw BenchError(description: "the image has another size")
                }
            }
        ]
    }

    /// Measures a load of one pixel with many processors through a pipeline with a memory cache, which looks for the
    /// images between the processors and keeps them.
    private static func processors(_ count: Int) async throws -> [GrowthSeries] {
        let pipeline = HitStack.makePipeline()
        let image = DecodedImage.gray(side: 1)
        let processors = Array(repeating: ImageProcessors.BuiltIn.flip(.leftAndRight), count: count)
        var number = 0
        let series = try await measured("chain of n processors, load", count) {
            number += 1
            let request = ImageRequest(source: .image(image, identity: "\(number)"), processors: processors)
            _ = try await pipeline.load(request)
        }
        await pipeline.shutDown()
        return [series]
    }

    private static func measured(
        _ name: String, _ size: Int, _ work: () async throws -> Void
    ) async throws -> GrowthSeries {
        let (seconds, bytes) = try await GrowthMeter.bestWithMemory {
            try await ContinuousClock().measure { try await work() }
        }
        return .total(name, size, seconds, bytes: bytes)
    }
}

/// The images of the measurements.
enum GrowthImages {
    /// Returns a PNG of 8 x 8 pixels.
    static func smallFile() throws -> Data {
        try PNGEncoder().encode(.coordinates(PixelSize(width: 8, height: 8)))
    }

    /// Returns an animation of 8 x 8 pixels, whose frames differ in one pixel, so that each depends on the first.
    static func animation(frameCount: Int) -> DecodedImage {
        var image = DecodedImage.gray(side: 8)
        var other = image.pixels
        other.withUnsafeMutableBytes { $0[0] = 0 }
        image.frames = AlternatingFrames(frameCount: frameCount, buffers: [image.pixels, other])
        return image
    }

    /// Returns an opaque image whose rows are gray ramps.
    static func gradient(_ size: PixelSize) throws -> DecodedImage {
        let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, stride in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let level = UInt32(truncatingIfNeeded: (x + y) & 0xFF)
                    memory.storeBytes(
                        of: (0xFF00_0000 | level &* 0x01_0101).littleEndian, toByteOffset: y * stride + x * 4,
                        as: UInt32.self)
                }
            }
        }
        guard let pixels else { throw BenchError(description: "cannot allocate an image of \(size) pixels") }
        return DecodedImage(pixels: pixels)
    }
}

/// The frames of an animation, which are the buffers in turn.
private struct AlternatingFrames: ImageFrameSource {
    let frameCount: Int
    let buffers: [PixelBuffer]

    var canvasSize: PixelSize { buffers[0].size }
    var playCount: Int? { nil }
    var cost: Int { 0 }

    func delay(at index: Int) -> Duration { .milliseconds(100) }
    func rawDelay(at index: Int) -> Duration { .milliseconds(100) }
    func frame(at index: Int) -> PixelBuffer { buffers[index % buffers.count] }
}
