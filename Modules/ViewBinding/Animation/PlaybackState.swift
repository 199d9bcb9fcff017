/// The position of an animation on an external clock. A pure state machine without side effects.
///
/// The position is calculated from the clock and from the time of the last change, never from the previous tick. Late
/// or skipped ticks therefore skip frames and do not slow the animation down.
struct PlaybackState: Sendable {
    /// A position, the time at which it was taken, and the speed from then on.
    private struct Anchor: Sendable {
        var time: Duration
        var position: Duration
        var rate: Double
    }

    /// The range to which positive playback rates are clamped, because unbounded rates would cause an overflow.
    private static let rates = 0.001...1_000.0
    /// The latest clock time, 35,000 years. Later times are treated as this one. At this time, the position of the
    /// fastest animation can still be represented.
    private static let lastTime = Duration.seconds(1 << 40)

    private(set) var timeline: AnimationTimeline
    /// The number of times the animation plays; nil to repeat forever. Values below one are treated as one.
    var playCount: Int?
    /// The position at the last change or at the first tick; nil before the first tick, and before the first tick after
    /// a pause or a jump.
    private var anchor: Anchor?
    /// The position of the animation while it does not run or ``anchor`` is nil.
    private var position = Duration.zero
    /// The latest time of all ticks, from zero to ``lastTime``. It never decreases.
    private var now = Duration.zero
    /// The speed from the next tick on.
    private(set) var rate = 1.0
    private(set) var isPlaying = true
    private(set) var isHidden = false

    init(timeline: AnimationTimeline, playCount: Int?) {
        self.timeline = timeline
        self.playCount = playCount
    }

    private var isRunning: Bool { isPlaying && !isHidden && rate > 0 }

    var playhead: AnimationTimeline.Playhead { timeline.playhead(at: currentPosition, playCount: playCount) }

    /// The index of the frame that is due.
    var frame: Int { timeline.order.frame(at: playhead.step) }

    /// Whether the delay of the last frame of the last play had passed at the latest tick.
    var isFinished: Bool {
        guard let playCount else { return false }
        return currentPosition >= timeline.end(ofPlays: playCount)
    }

    /// Whether the next tick starts or resumes the animation, or applies a jump or a new speed.
    private var needsTick: Bool { isRunning && anchor?.rate != rate }

    /// The time at which the next frame is due; nil if no other frame follows or the animation does not run. If the
    /// animation needs a tick immediately, the time of the latest tick, or zero before the first one.
    var deadline: Duration? { needsTick ? now : playhead.next.flatMap { time(of: $0) } }

    /// The time at which the last frame of the last play ends; nil before that frame, after its end, and while the
    /// animation does not run or needs a tick immediately.
    var endDeadline: Duration? {
        guard let playCount, !isFinished, playhead.next == nil else { return nil }
        return time(of: timeline.end(ofPlays: playCount))
    }

    /// Handles a tick of the clock. The first tick starts the animation, and the first tick after a pause resumes it.
    /// No ticks are needed during a pause.
    mutating func advance(to time: Duration) {
        now = max(now, min(time, Self.lastTime))
        // Until this tick, the animation has run at its previous speed.
        if anchor?.rate != rate { anchor = Anchor(time: now, position: currentPosition, rate: rate) }
    }

    mutating func setPlaying(_ isPlaying: Bool) { change { $0.isPlaying = isPlaying } }

    /// Pauses the animation while it is hidden.
    mutating func setHidden(_ isHidden: Bool) { change { $0.isHidden = isHidden } }

    /// Changes the playback speed from the next tick on.
    ///
    /// - Parameter rate: The speed, where 2 is twice as fast. Finite positive values are clamped to 0.001...1,000.
    ///   Zero, negative and non-finite values stop the animation at its position at the latest tick.
    mutating func setRate(_ rate: Double) {
        let isMoving = rate.isFinite && rate > 0
        change { $0.rate = isMoving ? min(max(rate, Self.rates.lowerBound), Self.rates.upperBound) : 0 }
    }

    /// Changes the order of the frames. The due frame stays due, and its delay begins at the next tick. At the start,
    /// the animation begins with the first frame of the mode.
    mutating func setMode(_ mode: PlaybackMode) {
        guard mode != timeline.order.mode else { return }
        let isAtStart = anchor == nil && position == .zero
        let (play, frame) = (playhead.play, frame)
        timeline = timeline.ordered(by: mode)
        if !isAtStart { jump(to: timeline.start(of: timeline.order.step(of: frame), play: play)) }
    }

    /// Jumps to the start of a frame of the current play. An index out of range is treated as the nearest valid index.
    /// In a play that returns, the direction stays the same.
    mutating func seek(to frame: Int) {
        let (order, playhead) = (timeline.order, playhead)
        let step = order.step(
            of: min(max(0, frame), order.frameCount - 1), isReturning: order.isReturning(playhead.step))
        jump(to: timeline.start(of: step, play: playhead.play))
    }

    /// Removes the frames from an index on. A position in them becomes the end of the play if it plays forward, and
    /// otherwise the start of the last remaining frame.
    mutating func end(before frameCount: Int) {
        let (play, moment) = timeline.parts(of: currentPosition)
        let shorter = timeline.prefix(frameCount)
        position = min(
            shorter.length * play + shorter.moment(replacing: moment, of: timeline), AnimationTimeline.lastMoment)
        timeline = shorter
        if let rate = anchor?.rate { anchor = Anchor(time: now, position: position, rate: rate) }
    }

    /// Jumps to the start of the first play.
    mutating func restart() { jump(to: .zero) }

    /// Jumps to a position, from which the animation continues at the next tick. The time of the latest tick is not
    /// used, because it may be long past: after the end, no ticks are needed.
    private mutating func jump(to position: Duration) {
        self.position = position
        anchor = nil
    }

    private var currentPosition: Duration {
        guard let anchor, isRunning else { return position }
        let elapsed = now - anchor.time
        let distance = anchor.rate == 1 ? elapsed : elapsed * anchor.rate
        return min(anchor.position + distance, AnimationTimeline.lastMoment)
    }

    /// Returns the clock time at which the animation reaches a position ahead; nil if the animation does not run or
    /// needs a tick first.
    private func time(of position: Duration) -> Duration? {
        guard isRunning, !needsTick, let anchor else { return nil }
        let distance = position - anchor.position
        // The quotient is rounded, so a nanosecond is added: at the returned time, the frame must have begun.
        return anchor.time + (rate == 1 ? distance : distance / rate + .nanoseconds(1))
    }

    /// Changes the speed or the pause state. The animation stays at the position that it had at the latest tick.
    private mutating func change(_ body: (inout Self) -> Void) {
        let wasRunning = isRunning
        position = currentPosition
        body(&self)
        guard let rate = anchor?.rate else { return }
        anchor = wasRunning || !isRunning ? Anchor(time: now, position: position, rate: rate) : nil
    }
}

/// The exact times of the frames of an animation, from its start, in whole attoseconds.
struct AnimationTimeline: Sendable {
    /// The step at a position.
    struct Playhead: Equatable, Sendable {
        /// The index of the play that contains the step, beginning with 0. After the end, the last play.
        var play: Int
        /// The index of the step in the play, which is that of its frame if the animation plays forward.
        var step: Int
        /// The start of the next step; nil for the last step of the last play.
        var next: Duration?
    }

    /// The minimum delay. Codecs already correct shorter delays in files. A custom source may report a zero or negative
    /// delay, which would stop or reverse the timeline, so shorter delays are treated as this one.
    private static let shortestDelay = Duration.milliseconds(1)
    /// The longest delay. It exceeds all delays that files can express; a custom source may report longer ones.
    private static let longestDelay = Duration.seconds(7 * 86_400)
    /// The last position, 140 million years from the start of the animation. Calculations with positions up to this
    /// limit do not overflow.
    static let lastMoment = Duration.seconds(1 << 52)

    /// The delay of each frame. Contains at least one element.
    private let delays: [Duration]
    let order: FrameOrder
    /// The end of each step in the first play.
    private let ends: [Duration]
    /// The duration of one play.
    let length: Duration

    /// Creates a timeline.
    ///
    /// - Parameters:
    ///   - delays: The delay of each frame. An empty array is treated as one frame.
    ///   - mode: The order of the frames. Default: forward.
    init(delays: [Duration], mode: PlaybackMode = .forward) {
        let delays = delays.isEmpty ? [Self.shortestDelay] : delays
        self.delays = delays.map { min(max(Self.shortestDelay, $0), Self.longestDelay) }
        order = FrameOrder(frameCount: delays.count, mode: mode)
        var ends: [Duration] = []
        var end = Duration.zero
        for step in 0..<order.stepCount {
            end += self.delays[order.frame(at: step)]
            ends.append(end)
        }
        (self.ends, length) = (ends, end)
    }

    var frameCount: Int { delays.count }

    /// Returns the timeline of the first frames, at least one, in the same order.
    func prefix(_ frameCount: Int) -> AnimationTimeline {
        AnimationTimeline(delays: Array(delays.prefix(max(1, frameCount))), mode: order.mode)
    }

    /// Returns the timeline with another order of the frames.
    func ordered(by mode: PlaybackMode) -> AnimationTimeline { AnimationTimeline(delays: delays, mode: mode) }

    /// Returns the time since the start of a play that corresponds to a moment of a longer timeline.
    func moment(replacing moment: Duration, of longer: AnimationTimeline) -> Duration {
        guard order.mode != .forward else { return min(moment, length) }
        let step = longer.firstEnding(after: moment)
        let frame = longer.order.frame(at: step)
        let start = start(
            of: order.step(of: min(frame, frameCount - 1), isReturning: longer.order.isReturning(step)))
        return frame < frameCount ? start + (moment - longer.start(of: step)) : start
    }

    /// Returns the number of complete plays before a position, and the time since the start of the current one.
    func parts(of position: Duration) -> (play: Int, moment: Duration) {
        let play = Int(clamping: position.attoseconds / length.attoseconds)
        return (play, position - length * play)
    }

    /// Returns the start of `step` after `play` completed plays. A step out of range is treated as the nearest valid
    /// one, and a negative `play` as zero. Traps if the result overflows.
    func start(of step: Int, play: Int = 0) -> Duration {
        let step = min(max(0, step), order.stepCount - 1)
        return length * max(0, play) + (step == 0 ? .zero : ends[step - 1])
    }

    /// Returns the position at which the given number of plays ends, at most ``lastMoment``. Counts below one are
    /// treated as one.
    func end(ofPlays count: Int) -> Duration {
        let end = length.attoseconds.multipliedReportingOverflow(by: Int128(max(1, count)))
        return end.overflow ? Self.lastMoment : min(Duration(attoseconds: end.partialValue), Self.lastMoment)
    }

    /// Returns the step that is due at `position`; after the end, the last step, or the first one of a play that
    /// returns. O(log *frames*).
    ///
    /// - Parameters:
    ///   - position: The position from the start of the animation.
    ///   - playCount: The number of times the animation plays; nil to repeat forever. Values below one are treated as
    ///     one.
    func playhead(at position: Duration, playCount: Int?) -> Playhead {
        let position = min(max(.zero, position), Self.lastMoment)
        let (play, moment) = parts(of: position)
        if let playCount, play >= max(1, playCount) {
            return Playhead(play: max(1, playCount) - 1, step: order.returns ? 0 : ends.count - 1, next: nil)
        }
        let start = length * play
        let step = firstEnding(after: moment)
        let isFinal = step == ends.count - 1 && playCount.map { play + 1 >= $0 } == true
        // The end of the very last frame, and of an only frame, causes no visible change, so it is not reported.
        let isLast = ends.count == 1 || isFinal && !order.returns
        return Playhead(play: play, step: step, next: isLast ? nil : start + ends[step])
    }

    private func firstEnding(after moment: Duration) -> Int {
        var (low, high) = (0, ends.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] > moment { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
