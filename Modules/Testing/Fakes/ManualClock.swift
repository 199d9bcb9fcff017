public import AlcedoCore
public import FoundationEssentials

/// A clock that stands still until it is told to move, so that tests of time need no time.
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

    /// - Parameters:
    ///   - date: The first date. Default: 14 November 2023, 22:13:20 UTC.
    ///   - uptime: The first uptime. Default: 0.
    public init(now date: Date = Date(timeIntervalSince1970: 1_700_000_000), uptime: Duration = .zero) {
        state = Watched(State(date: date, uptime: uptime))
    }

    public var now: Date { state.value.date }

    public var uptime: Duration { state.value.uptime }

    /// How many tasks sleep now.
    package var sleeperCount: Int { state.value.sleepers.count }

    /// Moves the date and the uptime on, then wakes the sleepers whose time has come: the earliest deadline first, equal
    /// ones in the order they fell asleep.
    ///
    /// Sleepers are resumed in that order; on which thread each then runs is the runtime's matter. One that sleeps again
    /// counts from the new uptime. A duration below zero counts as zero, since uptime never goes back.
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

    /// Sets the wall clock, forwards or back. The uptime and the sleepers do not notice.
    public func setDate(_ date: Date) {
        state.update { $0.date = date }
    }

    /// Returns when the uptime has been advanced by `duration`; at once when it is not above zero.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
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
                // A cancellation before the sleeper was in the list found nobody to wake.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Returns once at least `count` tasks sleep.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func waitForSleepers(count: Int) async throws {
        try await state.waitUntil { $0.sleepers.count >= count }
    }

    /// Returns once no task sleeps.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func waitForNoSleepers() async throws { try await state.waitUntil { $0.sleepers.isEmpty } }

    private func cancel(_ id: Int) {
        let sleeper = state.update { state -> Sleeper? in
            guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else { return nil }
            return state.sleepers.remove(at: index)
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
