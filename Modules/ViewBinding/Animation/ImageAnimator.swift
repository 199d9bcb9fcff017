public import AlcedoCore

/// A player for an animated image, driven by the clock of the view that shows it.
///
/// ```swift
/// let animator = ImageAnimator(image, pool: frames)
/// // At each tick of the frame clock:
/// if let frame = animator?.advance(to: time) { draw(frame) }
/// ```
///
/// The view first shows the image itself, whose pixels are the first frame. It then calls ``advance(to:)`` at each tick
/// of its frame clock, or at ``nextDeadline``, and shows the returned frame. The delays of the image's frame source,
/// clamped to the range from 1 ms to 7 days, are kept exactly: after a late tick, or a frame that is decoded too late,
/// frames are skipped, so the animation does not slow down. Frames are decoded ahead of time in a ``FramePool``, off
/// the main thread.
///
/// While a due frame is not decoded yet, or if it cannot be decoded, the last available frame between the shown frame
/// and the due one is shown. After a jump, this excludes frames before the target. If there is no such frame, the shown
/// frame stays.
///
/// A play ends before a frame that turns out to be damaged: the next play begins there, and the frame is not requested
/// again.
@MainActor public final class ImageAnimator {
    private let image: DecodedImage
    private let buffer: FrameBuffer
    private var viewer = 0
    private var playback: PlaybackState
    private var shown = 0
    /// The step that a replacement for a late frame must follow.
    private var limit = 0

    /// A closure that is called when a late frame may be available, as described for ``init(_:pool:onLateFrame:)``.
    package var onLateFrame: (@MainActor () -> Void)?

    /// Creates an animator for an image.
    ///
    /// - Parameters:
    ///   - image: The image. Its pixels are the first frame.
    ///   - pool: The pool of decoded frames, shared by all views of the image.
    ///   - onLateFrame: A closure that is called when a late frame may be available. After ``advance(to:)`` finds that
    ///     the due frame is not decoded yet, the closure is called once, when the next decoding ends, even that of
    ///     another frame. The view can then call ``advance(to:)`` without waiting for its next tick. The closure is not
    ///     called if a due frame is found or the view is hidden before that decoding ends. Default: nil.
    /// - Returns: nil if the image is not animated.
    public init?(_ image: DecodedImage, pool: FramePool, onLateFrame: (@MainActor () -> Void)? = nil) {
        guard image.isAnimated, let source = image.frames else { return nil }
        self.image = image
        self.onLateFrame = onLateFrame
        buffer = pool.buffer(for: source, first: image.pixels)
        let timeline = AnimationTimeline(delays: (0..<source.frameCount).map { source.delay(at: $0) })
        playback = PlaybackState(timeline: timeline, playCount: source.playCount)
        viewer = buffer.makeViewer { [weak self] in
            Task { @MainActor in self?.onLateFrame?() }
        }
    }

    isolated deinit { buffer.remove(viewer: viewer) }

    // MARK: Playing

    /// The number of times the animation plays; nil to repeat forever. Values below one are treated as one. If it is
    /// increased or set to nil after the end, the animation continues as if it had not ended. Default: the value of the
    /// frame source.
    public var playCount: Int? {
        get { playback.playCount }
        set { playback.playCount = newValue }
    }

    /// The playback speed, where 2 is twice as fast. Values from 0.001 to 1,000 are used; other finite positive values
    /// are treated as the nearest of these limits. The new speed applies from the next call of ``advance(to:)``. Zero,
    /// negative and non-finite values stop the animation immediately. Default: 1.
    public var rate: Double {
        get { playback.rate }
        set { playback.setRate(newValue) }
    }

    /// The order in which the frames are played. Default: ``PlaybackMode/forward``.
    ///
    /// After a change, the animation continues from the due frame in the new order. The delay of that frame begins at
    /// the next call of ``advance(to:)``. Before the first call, and after ``restart()``, the animation begins with the
    /// first frame of the order.
    public var playbackMode: PlaybackMode {
        get { playback.timeline.order.mode }
        set {
            playback.setMode(newValue)
            limitLateFrames()
        }
    }

    /// Whether the animation plays while it is not hidden. Default: true.
    ///
    /// A paused animation needs no calls of ``advance(to:)``, except to show a late frame or the frame after a jump. It
    /// resumes at its position with the first call after the pause.
    public var isPlaying: Bool {
        get { playback.isPlaying }
        set { playback.setPlaying(newValue) }
    }

    /// Whether the view is hidden. Default: false.
    ///
    /// While the view is hidden, the animation is paused. Its frames and its share of the pool's limit are released,
    /// unless another view shows the same animation.
    public var isHidden: Bool {
        get { playback.isHidden }
        set {
            playback.setHidden(newValue)
            if newValue { buffer.hide(viewer: viewer) }
        }
    }

    /// Whether the animation has played ``playCount`` times, up to the time of the last call of ``advance(to:)``.
    /// Because ``nextDeadline`` is nil during the last frame, one more call is needed to detect the end.
    public var isFinished: Bool { playback.isFinished }

    /// The zero-based index of the frame that was due at the last call of ``advance(to:)``, or that is the target of a
    /// jump since then. The view may still show another frame.
    ///
    /// Set it to jump to the start of another frame of the current play. The frame's delay begins at the next call of
    /// ``advance(to:)`` or, during a pause, at the first call after it. An index out of range is treated as the nearest
    /// valid index. A play that returns keeps its direction.
    public var frameIndex: Int {
        get { playback.frame }
        set {
            playback.seek(to: newValue)
            limitLateFrames()
        }
    }

    /// Moves the animation back to the start of the first play. That play begins at the next call of ``advance(to:)``.
    /// A paused animation stays paused.
    public func restart() {
        playback.restart()
        limitLateFrames()
    }

    // MARK: Frames

    /// The time at which ``advance(to:)`` should be called next, on the same clock; nil if no other frame becomes due.
    /// The arrival of a late frame is reported by the closure `onLateFrame` instead.
    ///
    /// It is nil while the animation is paused, hidden or stopped by its rate, and from the start of the last frame of
    /// the last play. At the start and after a pause, a jump or a change of the rate, the next call is due immediately.
    /// Until then, the value is the time of the last call, or zero before the first one.
    public var nextDeadline: Duration? { playback.deadline }

    /// The time at which the last frame of the last play ends; nil before that frame, after its end, and while the
    /// animation does not run or the next call of ``advance(to:)`` is due immediately.
    package var endDeadline: Duration? { playback.endDeadline }

    /// Whether the due frame is not shown yet and has not failed to decode. After a call of ``advance(to:)``, the
    /// closure `onLateFrame` reports when to call that method again.
    package var isLate: Bool {
        let due = playback.frame
        return due != shown && !buffer.hasFailed(due)
    }

    /// The error of a frame that could not be decoded; nil if there is none.
    package var failure: (any Error)? { buffer.failure }

    /// The decoding task in progress; nil if there is none.
    package var decoding: Task<Void, Never>? { buffer.decoding }

    /// Advances the animation to a time, and returns the image to show; nil if the shown image does not change.
    ///
    /// Also starts decoding the frames that are needed next, unless the view is hidden. Never waits for a decoder. For
    /// a fixed number of views, the cost is O(log *frames*) while frames are decoded in time, and O(*frames*) while a
    /// frame is late or cannot be decoded.
    ///
    /// - Parameter time: The time of a monotonic clock, such as the frame clock of a window. A time before that of an
    ///   earlier call is treated as the latest one. The first call starts the animation, unless it is paused, hidden or
    ///   stopped by its rate.
    public func advance(to time: Duration) -> DecodedImage? {
        playback.advance(to: time)
        endAtDamage()
        guard !playback.isHidden else { return nil }
        var found = frameOfPlayhead()
        // A frame may turn out to be damaged before the request.
        while endAtDamage() { found = frameOfPlayhead() }
        guard let found else { return nil }
        limit = found.step
        let frame = playback.timeline.order.frame(at: found.step)
        guard frame != shown else { return nil }
        shown = frame
        var shownImage = image
        shownImage.pixels = found.pixels
        shownImage.frames = nil
        return shownImage
    }

    /// Requests the frame of the playhead, and returns it or, if it is late, an earlier one.
    private func frameOfPlayhead() -> (step: Int, pixels: PixelBuffer)? {
        let playhead = playback.playhead
        return buffer.frame(
            playhead.step, of: playbackMode, isShown: playback.frame == shown, after: limit,
            remaining: remaining(from: playhead), viewer: viewer)
    }

    /// Ends each play before a frame that turned out to be damaged. Returns whether there is such a frame.
    @discardableResult
    private func endAtDamage() -> Bool {
        let count = buffer.frameCount
        guard count < playback.timeline.frameCount else { return false }
        playback.end(before: count)
        shown = min(shown, count)
        if playbackMode == .forward { limit = min(limit, count - 1) } else { limitLateFrames() }
        return true
    }

    /// Excludes the frames before the new position as replacements for a late frame.
    private func limitLateFrames() {
        let count = playback.timeline.order.stepCount
        limit = (playback.playhead.step + count - 1) % count
    }

    /// Returns the number of steps that follow before the animation ends, at most the number of steps in one play.
    private func remaining(from playhead: AnimationTimeline.Playhead) -> Int {
        let order = playback.timeline.order
        guard let playCount, playhead.play + 1 >= playCount else { return order.stepCount }
        if playhead.next == nil { return 0 }
        // A play that returns ends with its first frame.
        return order.stepCount - 1 - playhead.step + (order.returns ? 1 : 0)
    }
}
