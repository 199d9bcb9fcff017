public import AlcedoCore

/// Plays an animated image, by the clock of the view that shows it.
///
/// The view shows the image, whose pixels are the first frame, and then calls ``advance(to:)`` for each tick of its frame
/// clock, or at ``nextDeadline``, and shows what that returns. Frames keep the file's delays exactly: a tick that comes
/// late, or a frame that is decoded too late, costs frames and no time. Decoding happens off the main thread, ahead of
/// time, in a ``FramePool``.
///
/// While a frame that is due is not there, the last one before it that is, is shown. A frame that cannot be decoded is left
/// out: the one before it stays.
@MainActor public final class ImageAnimator {
    private let image: DecodedImage
    private let buffer: FrameBuffer
    private var viewer = 0
    private var playback: PlaybackState
    private var shown = 0
    /// A frame that is late must come after this one.
    private var limit = 0

    /// As for the initializer.
    package var onLateFrame: (@MainActor () -> Void)?

    /// - Parameters:
    ///   - image: Stays the first frame.
    ///   - pool: Has the frames, for all views of the image.
    ///   - onLateFrame: Called when a frame has been decoded that was not there in time: the view may call ``advance(to:)``
    ///     then, without waiting for its next tick. nil: no call. Default: nil.
    /// - Returns: nil when the image is not animated.
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

    /// How many times the animation plays; nil for ever, below one counts as one. Default: as the file says.
    public var playCount: Int? {
        get { playback.playCount }
        set { playback.playCount = newValue }
    }

    /// How fast the animation plays; twice as fast is 2. It stops at what is no number above nought; below 0.001 counts as
    /// 0.001, above 1,000 as 1,000. Default: 1.
    public var rate: Double {
        get { playback.rate }
        set { playback.setRate(newValue) }
    }

    /// Whether the animation plays, when it is not hidden. Default: true. One that was paused goes on where it was, with
    /// the next call of ``advance(to:)``; none is needed meanwhile.
    public var isPlaying: Bool {
        get { playback.isPlaying }
        set { playback.setPlaying(newValue) }
    }

    /// Whether nobody sees the view. Time then stands still, as in a pause, and frames are given back, with the part of the
    /// pool's limit. Default: false.
    public var isHidden: Bool {
        get { playback.isHidden }
        set {
            playback.setHidden(newValue)
            if newValue { buffer.hide(viewer: viewer) }
        }
    }

    /// Whether the animation has been played as often as it is to be.
    public var isFinished: Bool { playback.isFinished }

    /// The frame that is due, counted from zero; ``advance(to:)`` shows it. Set it to go to another frame of the same play.
    /// An index out of range counts as the nearest one.
    public var frameIndex: Int {
        get { playback.playhead.frame }
        set {
            playback.seek(to: newValue)
            limitLateFrames()
        }
    }

    /// Plays from the beginning, all plays.
    public func restart() {
        playback.restart()
        limitLateFrames()
    }

    // MARK: Frames

    /// When ``advance(to:)`` should be called next; nil when nothing is to change: paused, hidden, at the end, or before
    /// the first call, also of those after a pause.
    public var nextDeadline: Duration? { playback.deadline }

    /// When the last frame of the last play has been shown for its time; nil before that frame, and when the animation does
    /// not run.
    package var endDeadline: Duration? { playback.endDeadline }

    /// Why a frame could not be decoded; nil when all could so far.
    package var failure: (any Error)? { buffer.failure }

    /// The decoding that is under way.
    package var decoding: Task<Void, Never>? { buffer.decoding }

    /// Goes on to `time`, and returns the picture that is to be shown then; nil when it is the one that this returned last.
    ///
    /// O(1) in most cases, never blocks for a decoder.
    ///
    /// - Parameter time: Of a clock that never goes back, such as the frame clock of a window. The first call is the
    ///   beginning.
    public func advance(to time: Duration) -> DecodedImage? {
        playback.advance(to: time)
        guard !playback.isHidden else { return nil }
        let playhead = playback.playhead
        let frame = buffer.frame(
            playhead.frame, isShown: playhead.frame == shown, after: limit, remaining: remaining(from: playhead),
            viewer: viewer)
        guard let frame, frame.index != shown else { return nil }
        (shown, limit) = (frame.index, frame.index)
        var shownImage = image
        shownImage.pixels = frame.pixels
        shownImage.frames = nil
        return shownImage
    }

    /// After a jump, what lies before it is no stand-in for what is due.
    private func limitLateFrames() {
        let count = playback.timeline.frameCount
        limit = (playback.playhead.frame + count - 1) % count
    }

    /// How many frames are still to come; one turn is as many as anybody asks for.
    private func remaining(from playhead: AnimationTimeline.Playhead) -> Int {
        let left = playback.timeline.frameCount - 1 - playhead.frame
        guard let playCount, playhead.play + 1 >= playCount else { return playback.timeline.frameCount }
        return left
    }
}
