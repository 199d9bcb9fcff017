/// The position of an animation on an external clock. A pure state machine without side effects.
///
/// The position is calculated from the clock and from the time of the last change, never from the previous tick. Late
/// or skipped ticks therefore skip frames and do not slow the animation down.
struct PlaybackState: Sendable {
    /// A position, and the time at which it was taken.
    private struct Anchor: Sendable {
        var time: Duration
        var position: Duration
    }

    /// The range to which positive playback rates are clamped. Rates outside it make no visible difference, and
    /// unbounded rates would cause an overflow.
    private static let rates = 0.001...1_000.0
    /// The latest clock time, 35,000 years. Later times are treated as this one. At this time, the position of the
    /// fastest animation can still be represented.
    private static let lastTime = Duration.seconds(1 << 40)

    let timeline: AnimationTimeline
    /// The number of times the animation plays; nil to repeat forever. Values below one are treated as one.
    var playCount: Int?
    /// The position at the last change; nil before the first tick, and before the first tick after a pause.
    private var anchor: Anchor?
    /// The position of the animation while it does not run.
    private var position = Duration.zero
    /// The time of the latest tick. It never decreases.
    private var now = Duration.zero
    private(set) var rate = 1.0
    private(set) var isPlaying = true
    private(set) var isHidden = false

    init(timeline: AnimationTimeline, playCount: Int?) {
        self.timeline = timeline
        self.playCount = playCount
    }

    private var isRunning: Bool { isPlaying && !isHidden && rate > 0 }

    var playhead: AnimationTimeline.Playhead { timeline.playhead(at: currentPosition, playCount: playCount) }

    /// Whether the last frame of the last play has been shown for its full delay.
    var isFinished: Bool {
        guard let playCount else { return false }
        return currentPosition >= timeline.end(ofPlays: playCount)
    }

    /// The time at which the next frame is due; nil if no other frame follows or the animation does not run.
    var deadline: Duration? { playhead.next.flatMap { time(of: $0) } }

    /// The time at which the last frame of the last play ends; nil before that frame, after its end, and while the
    /// animation does not run.
    var endDeadline: Duration? {
        guard let playCount, !isFinished, playhead.next == nil else { return nil }
        return time(of: timeline.end(ofPlays: playCount))
    }

    /// Handles a tick of the clock. The first tick starts the animation, and the first tick after a pause resumes it.
    /// No ticks are needed during a pause.
    mutating func advance(to time: Duration) {
        now = max(now, min(time, Self.lastTime))
        if anchor == nil { anchor = Anchor(time: now, position: position) }
    }

    mutating func setPlaying(_ isPlaying: Bool) { change { $0.isPlaying = isPlaying } }

    /// Pauses the animation while it is hidden.
    mutating func setHidden(_ isHidden: Bool) { change { $0.isHidden = isHidden } }

    /// Changes the playback speed.
    ///
    /// - Parameter rate: The speed, where 2 is twice as fast. Values are clamped to 0.001...1,000. Zero, negative and
    ///   non-finite values stop the animation.
    mutating func setRate(_ rate: Double) {
        let isMoving = rate.isFinite && rate > 0
        change { $0.rate = isMoving ? min(max(rate, Self.rates.lowerBound), Self.rates.upperBound) : 0 }
    }

    /// Jumps to the start of a frame of the current play. An index out of range is treated as the nearest valid index.
    mutating func seek(to frame: Int) {
        let play = playhead.play
        change { _ in }
        position = timeline.start(of: frame, play: play)
        anchor?.position = position
    }

    /// Jumps to the start of the first play.
    mutating func restart() {
        change { _ in }
        position = .zero
        anchor?.position = .zero
    }

    private var currentPosition: Duration {
        guard let anchor, isRunning else { return position }
        let elapsed = now - anchor.time
        return min(anchor.position + (rate == 1 ? elapsed : elapsed * rate), AnimationTimeline.lastMoment)
    }

    /// Returns the clock time at which the animation reaches a position ahead; nil if the animation does not run.
    private func time(of position: Duration) -> Duration? {
        guard isRunning, let anchor else { return nil }
        let distance = position - anchor.position
        // The quotient is rounded, so a nanosecond is added: at the returned time, the frame must have begun.
        return anchor.time + (rate == 1 ? distance : distance / rate + .nanoseconds(1))
    }

    /// Changes the speed or the pause state, and keeps the current position.
    private mutating func change(_ body: (inout Self) -> Void) {
        let wasRunning = isRunning
        position = currentPosition
        body(&self)
        guard anchor != nil else { return }
        anchor = wasRunning || !isRunning ? Anchor(time: now, position: position) : nil
    }
}

/// The exact times of the frames of an animation, from its start, in whole attoseconds.
struct AnimationTimeline: Sendable {
    /// The frame at a position.
    struct Playhead: Equatable, Sendable {
        /// The number of completed plays.
        var play: Int
        var frame: Int
        /// The start of the next frame; nil for the last frame of the last play.
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

    /// The end of each frame in the first play. Contains at least one element.
    private let ends: [Duration]
    /// The duration of one play.
    let length: Duration

    /// Creates a timeline.
    ///
    /// - Parameter delays: The delay of each frame. An empty array is treated as one frame.
    init(delays: [Duration]) {
        var ends: [Duration] = []
        var end = Duration.zero
        for delay in delays.isEmpty ? [Self.shortestDelay] : delays {
            end += min(max(Self.shortestDelay, delay), Self.longestDelay)
            ends.append(end)
        }
        (self.ends, length) = (ends, end)
    }

    var frameCount: Int { ends.count }

    /// Returns the start of `frame` after `play` completed plays. Values out of range are treated as the nearest valid
    /// value.
    func start(of frame: Int, play: Int = 0) -> Duration {
        let frame = min(max(0, frame), frameCount - 1)
        return length * max(0, play) + (frame == 0 ? .zero : ends[frame - 1])
    }

    /// Returns the position at which the given number of plays ends, at most ``lastMoment``. Counts below one are
    /// treated as one.
    func end(ofPlays count: Int) -> Duration {
        let end = length.attoseconds.multipliedReportingOverflow(by: Int128(max(1, count)))
        return end.overflow ? Self.lastMoment : min(Duration(attoseconds: end.partialValue), Self.lastMoment)
    }

    /// Returns the frame that is shown at `position`; after the end, the last frame. O(log *frames*).
    ///
    /// - Parameters:
    ///   - position: The position from the start of the animation.
    ///   - playCount: The number of times the animation plays; nil to repeat forever. Values below one are treated as
    ///     one.
    func playhead(at position: Duration, playCount: Int?) -> Playhead {
        let position = min(max(.zero, position), Self.lastMoment)
        let play = Int(clamping: position.attoseconds / length.attoseconds)
        if let playCount, play >= max(1, playCount) {
            return Playhead(play: max(1, playCount) - 1, frame: frameCount - 1, next: nil)
        }
        let start = length * play
        let frame = firstEnding(after: position - start)
        let isLast = frame == frameCount - 1 && playCount.map { play + 1 >= $0 } == true
        // The end of the very last frame causes no visible change, so it is not reported.
        return Playhead(play: play, frame: frame, next: isLast ? nil : start + ends[frame])
    }

    private func firstEnding(after moment: Duration) -> Int {
        var (low, high) = (0, frameCount - 1)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] > moment { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
