import AlcedoCore
import AlcedoTesting
import TestSupport

/// A gate that blocks tasks until a test opens it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var stopped: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Watched(State())

    /// Returns once the gate is open.
    func pass() async {
        await withCheckedContinuation { continuation in
            let ready = state.update { state -> [CheckedContinuation<Void, Never>] in
                state.arrivals += 1
                let arrivals = state.arrivals
                var ready = state.watchers.filter { $0.count <= arrivals }.map(\.continuation)
                state.watchers.removeAll { $0.count <= arrivals }
                if state.isOpen { ready.append(continuation) } else { state.stopped.append(continuation) }
                return ready
            }
            for continuation in ready { continuation.resume() }
        }
    }

    /// Returns once this many tasks have arrived at the gate.
    func arrivals(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.update { state in
                if state.arrivals < count { state.watchers.append((count, continuation)) }
                return state.arrivals >= count
            }
            if isThere { continuation.resume() }
        }
    }

    /// Opens the gate permanently.
    func open() {
        let stopped = state.update { state in
            defer { state.stopped = [] }
            state.isOpen = true
            return state.stopped
        }
        for continuation in stopped { continuation.resume() }
    }
}
