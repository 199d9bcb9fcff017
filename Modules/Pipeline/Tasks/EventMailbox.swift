import AlcedoCore

/// Passes events on through an executor, in order, one batch at a time.
final class EventMailbox: Sendable {
    private struct State: Sendable {
        var waiting: [ImageTaskEvent] = []
        var isScheduled = false
        var hasFinished = false
    }

    private let executor: CallbackExecutor
    private let handler: @Sendable (ImageTaskEvent) -> Void
    private let state = Locked(State())

    init(_ executor: CallbackExecutor, _ handler: @escaping @Sendable (ImageTaskEvent) -> Void) {
        self.executor = executor
        self.handler = handler
    }

    func post(_ event: ImageTaskEvent) {
        let mustSchedule = state.withLock { state in
            // Another thread may have been about to tell of a preview.
            guard !state.hasFinished else { return false }
            if case .finished = event { state.hasFinished = true }
            // Of a kind that only counts when it is new, the last one that waits will do.
            if case .progress = event, case .progress = state.waiting.last { state.waiting.removeLast() }
            if case .preview = event, case .preview = state.waiting.last { state.waiting.removeLast() }
            state.waiting.append(event)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { executor.run { self.deliver() } }
    }

    private func deliver() {
        while true {
            let events = state.withLock { state in
                defer { state.waiting = [] }
                if state.waiting.isEmpty { state.isScheduled = false }
                return state.waiting
            }
            if events.isEmpty { return }
            for event in events { handler(event) }
        }
    }
}
