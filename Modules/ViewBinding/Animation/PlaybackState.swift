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

    var place: AnimationTimeline.Place { timeline.place(at: currentPosition, playCount: playCount) }

    /// Whether the last frame of the last play has been shown for its time.
    var isFinished: Bool {
        guard let playCount else { return false }
        return currentPosition >= timeline.end(ofPlays: playCount)
    }

    /// When another frame is to be shown, if nothing changes; nil when none is.
    var deadline: Duration? { place.next.flatMap { time(of: $0) } }

    /// When the last frame has been shown for its time; nil before that frame, and after that time.
    var endDeadline: Duration? {
        guard let playCount, !isFinished, place.next == nil else { return nil }
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
        let play = place.play
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
