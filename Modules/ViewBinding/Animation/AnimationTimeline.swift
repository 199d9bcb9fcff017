/// When each frame of an animation is shown, counted from its beginning. Exact: whole attoseconds, no rounding.
struct AnimationTimeline: Sendable {
    /// Where a moment lies.
    struct Place: Equatable, Sendable {
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
    func place(at position: Duration, playCount: Int?) -> Place {
        let position = min(max(.zero, position), Self.lastMoment)
        let play = Int(clamping: position.attoseconds / length.attoseconds)
        if let playCount, play >= max(1, playCount) {
            return Place(play: max(1, playCount) - 1, frame: frameCount - 1, next: nil)
        }
        let start = length * play
        let frame = firstEnding(after: position - start)
        let isLast = frame == frameCount - 1 && playCount.map { play + 1 >= $0 } == true
        // The last frame of all has an end, too, at which the animation is over: that changes nothing to be seen.
        return Place(play: play, frame: frame, next: isLast ? nil : start + ends[frame])
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
