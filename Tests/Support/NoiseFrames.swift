package import AlcedoCore
package import AlcedoTesting

/// An animation of 1,000 frames of 32 x 32 opaque pixels that cannot be compressed, which counts the frames that are
/// drawn.
package final class NoiseFrames: ImageFrameSource {
    package let canvasSize = PixelSize(width: 32, height: 32)
    package let frameCount = 1000
    package let playCount: Int? = nil
    package let cost = 0
    /// The number of frames that were drawn.
    package let drawn = Watched(0)

    package init() {}

    package func delay(at index: Int) -> Duration { .milliseconds(100) }

    package func rawDelay(at index: Int) -> Duration { .milliseconds(100) }

    package func frame(at index: Int) throws -> PixelBuffer {
        drawn.update { $0 += 1 }
        var random = SeededGenerator(seed: UInt64(index))
        let pixels = PixelBuffer(size: canvasSize, format: .rgba8, alphaMode: .opaque) { memory, _ in
            for offset in memory.indices {
                memory[offset] = offset % 4 == 3 ? 255 : UInt8.random(in: 0...255, using: &random)
            }
        }
        guard let pixels else { throw ImageDecodingError.noMemory(for: canvasSize) }
        return pixels
    }

    /// Returns whether encoding ends with `exceedsLimit` when the encoded bytes exceed the limit, which is that of a
    /// few frames, before the others are drawn.
    package static func endsEncode(by encoder: any ImageEncoding, maximumByteCount: Int) throws -> Bool {
        let frames = NoiseFrames()
        let image = DecodedImage(pixels: try frames.frame(at: 0), frames: frames)
        do {
            _ = try encoder.encode(image, maximumByteCount: maximumByteCount)
            return false
        } catch {
            return error.code == .exceedsLimit && frames.drawn.value < 100
        }
    }
}
