public import AlcedoCore
public import AlcedoViewBinding

/// Shows pictures in a terminal, and plays those that are animated.
@MainActor public final class TerminalPlayer: ImageDisplaying {
    private let view: TerminalView
    private let pool: FramePool
    private let clock: any TimeSource
    private var playing: Task<Void, Never>?

    /// How many times animations play, below one counts as one; nil: as their files say. Counts from the next on.
    public var playCount: Int?

    /// - Parameters:
    ///   - view: Draws the frames.
    ///   - pool: Has the frames.
    ///   - clock: Whose uptime is the time of animations. Default: the machine's.
    public init(view: TerminalView, pool: FramePool, clock: any TimeSource = SystemClock()) {
        self.view = view
        self.pool = pool
        self.clock = clock
    }

    isolated deinit { stop() }

    public var displaySize: DisplaySize { view.displaySize }

    public func display(_ content: DisplayContent) {
        stop()
        view.display(content)
        guard case .image(let image, from: _) = content, let animator = ImageAnimator(image, pool: pool) else { return }
        if let playCount { animator.playCount = playCount }
        playing = Task { [view, clock] in await Self.play(animator, in: view, by: clock) }
    }

    /// Takes over a new size of the terminal, as ``TerminalView/resize(to:)`` does: what is shown stays as it was decoded, so
    /// bind the request again for a larger one.
    public func resize(to canvas: TerminalCanvas) { view.resize(to: canvas) }

    /// Ends the animation; the frame that is shown stays.
    public func stop() {
        playing?.cancel()
        playing = nil
    }

    /// Returns when the animation has been played as often as it is to be, or was stopped; at once for a still picture. One
    /// that is shown in its place meanwhile is waited for, too.
    public func finish() async {
        while let playing {
            await playing.value
            if self.playing == playing { return }
        }
    }

    private static func play(_ animator: ImageAnimator, in view: TerminalView, by clock: any TimeSource) async {
        var waiting: Task<Void, any Error>?
        animator.onLateFrame = { waiting?.cancel() }
        while !Task.isCancelled {
            if let picture = animator.advance(to: clock.uptime) { view.display(frame: picture) }
            // The last frame has no successor, and is left when its time is over, too.
            guard let deadline = animator.nextDeadline ?? animator.endDeadline else { return }
            let sleep = Task { try await clock.sleep(for: deadline - clock.uptime) }
            waiting = sleep
            // Ended early by a frame that was late, or with this task: either way there is something to see to.
            await withTaskCancellationHandler {
                _ = await sleep.result
            } onCancel: {
                sleep.cancel()
            }
        }
    }
}
