public import AlcedoCore
public import FoundationEssentials

/// A clock that stands still until a test moves it, so tests that depend on time do not wait.
///
/// ```swift
/// import AlcedoDiskCache
/// import AlcedoTesting
/// import FoundationEssentials
///
/// let clock = ManualClock()
/// let cache = FileDiskCache(directory: URL(filePath: "/tmp/images"), sizeLimit: 1 << 20, clock: clock)
/// clock.advance(by: .seconds(8 * 24 * 60 * 60))
/// ```
///
/// Calls may come from any thread.
public final class ManualClock: TimeSource {
    private struct Sleeper: Sendable {
        let id: Int
        let deadline: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var date: Date
        var uptime: Duration
        var lastID = 0
        var sleepers: [Sleeper] = []
    }

    private let state: Watched<State>

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - date: The initial date. Default: 14 November 2023, 22:13:20 UTC.
    ///   - uptime: The initial uptime. Default: 0.
    public init(now date: Date = Date(timeIntervalSince1970: 1_700_000_000), uptime: Duration = .zero) {
        state = Watched(State(date: date, uptime: uptime))
    }

    /// The current date, which ``advance(by:)`` moves.
    public var now: Date { state.value.date }

    /// The current uptime, as set by ``advance(by:)``.
    public var uptime: Duration { state.value.uptime }

    /// The number of tasks that are sleeping.
    package var sleeperCount: Int { state.value.sleepers.count }

    /// Advances the date and the uptime, then resumes the sleepers whose deadline has passed.
    ///
    /// Sleepers are resumed in the order of their deadlines, and with equal deadlines in the order in which they began
    /// to sleep. The runtime decides on which thread each task then runs. The next sleep of such a task begins at the
    /// new uptime. A negative duration counts as zero, because the uptime never decreases.
    public func advance(by duration: Duration) {
        let duration = max(.zero, duration)
        let due = state.update { state in
            state.uptime += duration
            state.date += duration / .seconds(1)
            let uptime = state.uptime
            let due = state.sleepers.filter { $0.deadline <= uptime }
            state.sleepers.removeAll { $0.deadline <= uptime }
            return due.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Sets the date, forward or back. The uptime and the sleepers are unaffected.
    package func setDate(_ date: Date) {
        state.update { $0.date = date }
    }

    /// Returns when the uptime has been advanced by `duration`; immediately if `duration` is zero or less.
    ///
    /// - Throws: `CancellationError` when the task is canceled first.
    public func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        guard duration > .zero else { return }
        let id = state.update { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.update { state in
                    state.sleepers.append(
                        Sleeper(id: id, deadline: state.uptime + duration, continuation: continuation))
                }
                // A cancellation before the sleeper was in the list has resumed nothing.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Returns once at least `count` tasks are sleeping.
    ///
    /// - Throws: `CancellationError` when the task is canceled first.
    public func waitForSleepers(count: Int) async throws {
        try await state.waitUntil { $0.sleepers.count >= count }
    }

    private func cancel(_ id: Int) {
        let sleeper = state.update { state -> Sleeper? in
            guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else { return nil }
            return state.sleepers.remove(at: index)
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
