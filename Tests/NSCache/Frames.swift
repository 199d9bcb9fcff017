import AlcedoCore
import AlcedoTesting

/// An animation with a given cost that reports its release.
final class Frames: ImageFrameSource {
    let cost: Int
    private let goes: @Sendable () -> Void

    init(cost: Int, goes: @escaping @Sendable () -> Void) {
        self.cost = cost
        self.goes = goes
    }

    deinit { goes() }

    var canvasSize: PixelSize { PixelSize(width: 1, height: 1) }
    var frameCount: Int { 1 }
    var playCount: Int? { nil }
    func delay(at index: Int) -> Duration { .milliseconds(100) }
    func rawDelay(at index: Int) -> Duration { .milliseconds(100) }
    func frame(at index: Int) throws -> PixelBuffer { DecodedImage.gray(side: 1).pixels }
}

extension DecodedImage {
    /// Returns an image with this cost in bytes, identified by its level.
    static func weighing(
        _ cost: Int, level: UInt8 = 128, goes: @escaping @Sendable () -> Void = {}
    ) -> DecodedImage {
        var image = gray(side: 1, level: level)
        image.frames = Frames(cost: cost - image.cost, goes: goes)
        return image
    }

    /// The level of the first pixel.
    var level: UInt8 { pixels.bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self) }
}
