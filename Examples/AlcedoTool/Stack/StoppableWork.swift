import Alcedo

/// Work that is waited for only so long once it has been told to stop: what a C library has begun runs to its end, which
/// may be a minute away, and hears of nothing.
struct StoppableWork<Value: Sendable>: Sendable {
    private let ends: AsyncStream<Value?>
    private let end: AsyncStream<Value?>.Continuation
    private let time: any TimeSource

    init(time: any TimeSource = SystemClock()) {
        (ends, end) = AsyncStream.makeStream()
        self.time = time
    }

    /// To be called when the work has been told to stop.
    ///
    /// - Parameter grace: How long it is waited for from now on.
    func hasBeenStopped(grace: Duration) {
        Task {
            try? await time.sleep(for: grace)
            end.yield(nil)
        }
    }

    /// What the work gives; nil when it has outlasted the grace, and goes on. To be called once.
    func value(of work: Task<Value, Never>) async -> Value? {
        Task { end.yield(await work.value) }
        for await value in ends { return value }
        return nil
    }
}
