import Alcedo

/// An animation that ends when nobody wants its frames any more: an encoder asks for one after another, of which a small
/// file may have thousands, and asks nothing else.
final class StoppableFrames: ImageFrameSource {
    private let frames: any ImageFrameSource
    private let stopped = Locked(false)

    init(_ frames: any ImageFrameSource) { self.frames = frames }

    var isStopped: Bool { stopped.withLock { $0 } }

    /// From now on no frame is to be had.
    func stop() { stopped.withLock { $0 = true } }

    var canvasSize: PixelSize { frames.canvasSize }
    var frameCount: Int { frames.frameCount }
    var playCount: Int? { frames.playCount }
    var cost: Int { frames.cost }

    func delay(at index: Int) -> Duration { frames.delay(at: index) }

    func rawDelay(at index: Int) -> Duration { frames.rawDelay(at: index) }

    /// - Throws: What the animation throws; `CancellationError` when it is stopped.
    func frame(at index: Int) throws -> PixelBuffer {
        if isStopped { throw CancellationError() }
        return try frames.frame(at: index)
    }
}
