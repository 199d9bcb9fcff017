/// Where an animation is, by a clock from outside. Decides only.
///
/// The position follows from the clock and from when something last changed, never from the tick before: ticks that are
/// late or left out cost frames, and no time.
struct PlaybackState: Sendable {
    /// A position, and the time at which it was taken.
    private struct Anchor: Sendable {
        var time: Duration
        var position: Duration
    }

    /// Slower, or faster, is nothing that anybody sees, and numbers without an end overflow.
    private static let rates = 0.001...1_000.0
    /// The latest time of a clock, 35,000 years on: as far as the fastest animation can be counted.
    private static let lastTime = Duration.seconds(1 << 40)

    let timeline: AnimationTimeline
    /// How many times the animation plays; nil for ever. Below one counts as one.
    var playCount: Int?
    /// nil before the first tick, and before the first after a rest.
    private var anchor: Anchor?
    /// Where the animation is while no clock has ticked.
    private var position = Duration.zero
    /// The last tick; time does not go back.
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

    /// Whether the last frame of the last play has been shown for its time.
    var isFinished: Bool {
        guard let playCount else { return false }
        return currentPosition >= timeline.end(ofPlays: playCount)
    }

    /// When another frame is to be shown, if nothing changes; nil when none is.
    var deadline: Duration? { playhead.next.flatMap { time(of: $0) } }

    /// When the last frame has been shown for its time; nil before that frame, and after that time.
    var endDeadline: Duration? {
        guard let playCount, !isFinished, playhead.next == nil else { return nil }
        return time(of: timeline.end(ofPlays: playCount))
    }

    /// The clock has ticked. The first tick is the beginning, and the first after a rest is where that ends: until then
    /// nobody has to tick.
    mutating func advance(to time: Duration) {
        now = max(now, min(time, Self.lastTime))
        if anchor == nil { anchor = Anchor(time: now, position: position) }
    }

    mutating func setPlaying(_ isPlaying: Bool) { change { $0.isPlaying = isPlaying } }

    /// Time stands still for an animation that nobody sees.
    mutating func setHidden(_ isHidden: Bool) { change { $0.isHidden = isHidden } }

    /// - Parameter rate: Twice as fast is 2. What is no number above nought stops the animation; below 0.001, and above
    ///   1,000, counts as that.
    mutating func setRate(_ rate: Double) {
        let isMoving = rate.isFinite && rate > 0
        change { $0.rate = isMoving ? min(max(rate, Self.rates.lowerBound), Self.rates.upperBound) : 0 }
    }

    /// Goes to the beginning of a frame of the play that the animation is in. Out of range counts as the nearest frame.
    mutating func seek(to frame: Int) {
        let play = playhead.play
        change { _ in }
        position = timeline.start(of: frame, play: play)
        anchor?.position = position
    }

    /// Goes back to the beginning of the first play.
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

    /// When the animation is at a position that it has not reached; nil when it does not run.
    private func time(of position: Duration) -> Duration? {
        guard isRunning, let anchor else { return nil }
        let distance = position - anchor.position
        // A nanosecond more than the quotient, which is rounded: at that time the frame must have begun.
        return anchor.time + (rate == 1 ? distance : distance / rate + .nanoseconds(1))
    }

    /// Changes how time passes from now on.
    private mutating func change(_ body: (inout Self) -> Void) {
        let wasRunning = isRunning
        position = currentPosition
        body(&self)
        guard anchor != nil else { return }
        anchor = wasRunning || !isRunning ? Anchor(time: now, position: position) : nil
    }
}

/// When each frame of an animation is shown, counted from its beginning. Exact: whole attoseconds, no rounding.
struct AnimationTimeline: Sendable {
    /// The frame of a moment.
    struct Playhead: Equatable, Sendable {
        /// How many plays are over.
        var play: Int
        var frame: Int
        /// When the next frame begins; nil at the end of the last play.
        var next: Duration?
    }

    /// Files that say less have been corrected by their codecs; a source of somebody's own must not stand still or run back.
    private static let shortestDelay = Duration.milliseconds(1)
    /// Longer than a file can say; from a source of somebody's own.
    private static let longestDelay = Duration.seconds(7 * 86_400)
    /// The last moment that there is, 140 million years on: far enough from where attoseconds overflow to be counted with.
    static let lastMoment = Duration.seconds(1 << 52)

    /// When each frame of the first play ends; at least one.
    private let ends: [Duration]
    /// How long one play takes.
    let length: Duration

    /// - Parameter delays: How long each frame is shown; none counts as one frame.
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

    /// When `frame` begins in the play after `play` others. Frames and plays out of range count as the nearest one.
    func start(of frame: Int, play: Int = 0) -> Duration {
        let frame = min(max(0, frame), frameCount - 1)
        return length * max(0, play) + (frame == 0 ? .zero : ends[frame - 1])
    }

    /// When as many plays are over, at least one; never after ``lastMoment``.
    func end(ofPlays count: Int) -> Duration {
        let end = length.attoseconds.multipliedReportingOverflow(by: Int128(max(1, count)))
        return end.overflow ? Self.lastMoment : min(Duration(attoseconds: end.partialValue), Self.lastMoment)
    }

    /// Which frame is shown at `position`; the last one when all is over. O(log *frames*).
    ///
    /// - Parameter playCount: How many times the animation plays, at least once; nil for ever.
    func playhead(at position: Duration, playCount: Int?) -> Playhead {
        let position = min(max(.zero, position), Self.lastMoment)
        let play = Int(clamping: position.attoseconds / length.attoseconds)
        if let playCount, play >= max(1, playCount) {
            return Playhead(play: max(1, playCount) - 1, frame: frameCount - 1, next: nil)
        }
        let start = length * play
        let frame = firstEnding(after: position - start)
        let isLast = frame == frameCount - 1 && playCount.map { play + 1 >= $0 } == true
        // The last frame of all has an end, too, at which the animation is over: that changes nothing to be seen.
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
