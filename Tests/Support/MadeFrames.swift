package import AlcedoCore

/// Frames that are given or unavailable, each with its delay.
package struct MadeFrames: ImageFrameSource {
    package struct Missing: Error {}

    package let canvasSize: PixelSize
    package let playCount: Int?
    private let frames: [(pixels: PixelBuffer?, delay: Duration)]

    /// - Parameter frames: The frames, where nil is an unavailable one.
    package init(_ canvasSize: PixelSize, playCount: Int? = nil, _ frames: [(pixels: PixelBuffer?, delay: Duration)]) {
        (self.canvasSize, self.playCount, self.frames) = (canvasSize, playCount, frames)
    }

    package var frameCount: Int { frames.count }
    package var cost: Int { 0 }
    package func delay(at index: Int) -> Duration {
        frames[index].delay <= .milliseconds(10) ? .milliseconds(100) : frames[index].delay
    }
    package func rawDelay(at index: Int) -> Duration { frames[index].delay }

    package func frame(at index: Int) throws -> PixelBuffer {
        guard let pixels = frames[index].pixels else { throw Missing() }
        return pixels
    }
}
