import AlcedoCore
import AlcedoWebP
import Foundation
import TestSupport

extension PixelBuffer {
    /// Returns noise in every channel, with an increased share of opaque and transparent pixels.
    static func noise(_ size: PixelSize, using random: inout SeededGenerator) -> PixelBuffer? {
        PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { memory, _ in
            for offset in stride(from: 0, to: memory.count, by: 4) {
                for channel in 0..<3 { memory[offset + channel] = UInt8.random(in: 0...255, using: &random) }
                memory[offset + 3] =
                    [0, 255, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
            }
        }
    }

    /// Returns smooth opaque colors.
    static func gradient(_ size: PixelSize) -> PixelBuffer? {
        PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, bytesPerRow in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let pixel = [UInt8(x * 255 / size.width), UInt8(y * 255 / size.height), UInt8((x ^ y) & 63), 255]
                    memory[(y * bytesPerRow + 4 * x)..<(y * bytesPerRow + 4 * x + 4)].copyBytes(from: pixel)
                }
            }
        }
    }
}

/// Returns an animation of frames of random sizes, positions, blending and disposal.
func randomAnimation(_ canvas: PixelSize, frameCount: Int, using random: inout SeededGenerator) throws -> Data {
    var chunks = [RIFFWriter.animation(width: canvas.width, height: canvas.height, loopCount: 3)]
    let encoder = WebPEncoder(compression: .lossless, method: 0, keepsHiddenColor: true)
    for index in 0..<frameCount {
        let isWhole = Int.random(in: 0..<4, using: &random) == 0
        let left = isWhole ? 0 : 2 * Int.random(in: 0..<canvas.width / 2, using: &random)
        let top = isWhole ? 0 : 2 * Int.random(in: 0..<canvas.height / 2, using: &random)
        let size = PixelSize(
            width: isWhole ? canvas.width : Int.random(in: 1...canvas.width - left, using: &random),
            height: isWhole ? canvas.height : Int.random(in: 1...canvas.height - top, using: &random))
        guard let pixels = PixelBuffer.noise(size, using: &random) else { throw CocoaError(.featureUnsupported) }
        chunks.append(
            RIFFWriter.frame(
                left: left, top: top, width: size.width, height: size.height, delay: 10 * index,
                flags: UInt8.random(in: 0..<4, using: &random),
                [RIFFWriter.imageChunks(of: try encoder.encode(DecodedImage(pixels: pixels)))]))
    }
    return RIFFWriter.file(chunks)
}
