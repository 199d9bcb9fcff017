import AlcedoCore

/// An animation of one frame, for tests that only need an animation.
struct OneFrame: ImageFrameSource {
    let buffer: PixelBuffer

    var canvasSize: PixelSize { buffer.size }
    var frameCount: Int { 1 }
    var playCount: Int? { nil }
    var cost: Int { 0 }
    func delay(at index: Int) -> Duration { .milliseconds(100) }
    func rawDelay(at index: Int) -> Duration { .milliseconds(100) }
    func frame(at index: Int) throws -> PixelBuffer { buffer }
}
