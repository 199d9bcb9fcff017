/// The order in which the frames of an animation are played.
public enum PlaybackMode: Sendable, Hashable, CaseIterable {
    /// From the first frame to the last one.
    case forward
    /// From the last frame to the first one.
    case reverse
    /// From the first frame to the last one and back. The last play ends when it has returned to the first frame.
    case bounce
    /// From the last frame to the first one and back. The last play ends when it has returned to the last frame.
    case reversedBounce
}

/// The frames of one play in the order of a mode. Each step shows one frame.
struct FrameOrder: Sendable {
    /// The number of frames, at least one.
    let frameCount: Int
    let mode: PlaybackMode

    init(frameCount: Int, mode: PlaybackMode) {
        self.frameCount = max(1, frameCount)
        self.mode = mode
    }

    /// Whether a play returns to its first frame, which begins the next play.
    var returns: Bool { mode == .bounce || mode == .reversedBounce }

    private var isReversed: Bool { mode == .reverse || mode == .reversedBounce }

    /// The number of steps in one play. The frame at which a play turns occurs once.
    var stepCount: Int { returns ? max(1, 2 * frameCount - 2) : frameCount }

    /// Returns the frame of a step.
    func frame(at step: Int) -> Int {
        let forward = step < frameCount ? step : 2 * frameCount - 2 - step
        return isReversed ? frameCount - 1 - forward : forward
    }

    /// Returns the step of a frame; in a play that returns, the one on the way back if `isReturning` is true.
    func step(of frame: Int, isReturning: Bool = false) -> Int {
        let step = isReversed ? frameCount - 1 - frame : frame
        return returns && isReturning && step > 0 && step < frameCount - 1 ? 2 * frameCount - 2 - step : step
    }

    /// Whether a step is on the way back.
    func isReturning(_ step: Int) -> Bool { step >= frameCount }

    /// Returns the number of steps from a step to the next one that shows a frame.
    func distance(from step: Int, to frame: Int) -> Int {
        let outward = (self.step(of: frame) + stepCount - step) % stepCount
        guard returns else { return outward }
        return min(outward, (self.step(of: frame, isReturning: true) + stepCount - step) % stepCount)
    }
}
