import AlcedoCore

/// How many frames an animation may keep: an equal part of the bytes for all that are seen, and less when memory is short.
final class FrameBudget: Sendable {
    private struct State: Sendable {
        var animationCount = 0
        var pressure = MemoryPressure.normal
    }

    private let byteLimit: Int
    private let state = Locked(State())

    init(byteLimit: Int) { self.byteLimit = max(0, byteLimit) }

    var isCritical: Bool { state.withLock { $0.pressure == .critical } }

    func addAnimation() { state.withLock { $0.animationCount += 1 } }

    func removeAnimation() { state.withLock { $0.animationCount -= 1 } }

    func setPressure(_ pressure: MemoryPressure) { state.withLock { $0.pressure = pressure } }

    /// At least two frames, the one that is shown and the next; when memory is short, those alone; when it is critical,
    /// one.
    func capacity(frameBytes: Int) -> Int {
        state.withLock { state in
            switch state.pressure {
            case .critical: 1
            case .warning: 2
            case .normal: max(2, byteLimit / max(1, state.animationCount) / max(1, frameBytes))
            }
        }
    }
}
