import AlcedoCore

/// Work that nobody waits for, one batch at a time.
final class BackgroundWork: Sendable {
    struct Needs: OptionSet, Sendable {
        let rawValue: Int

        /// Uses that were gathered are to be written.
        static let uses = Needs(rawValue: 1)
        /// The limits of size and count are to be kept.
        static let limits = Needs(rawValue: 2)
        /// What has expired is to be removed.
        static let expired = Needs(rawValue: 4)
        /// What a crash may have left is to be removed.
        static let leftovers = Needs(rawValue: 8)
    }

    private struct State: Sendable {
        var wanted: Needs = []
        /// How many batches have been asked for and done; several requests may make one.
        var requestCount = 0
        var doneCount = 0
        var running: Task<Void, Never>?
    }

    private let state = Locked(State())

    /// Has `perform` do what is needed, soon.
    func schedule(_ needs: Needs, perform: @escaping @Sendable (Needs) async -> Void) {
        state.withLock { state in
            guard !state.wanted.isSuperset(of: needs) else { return }
            state.wanted.formUnion(needs)
            state.requestCount += 1
            if state.running == nil { begin(&state, perform) }
        }
    }

    /// Returns when everything that was scheduled before is done.
    func finish() async {
        let wanted = state.withLock { $0.requestCount }
        while let task = state.withLock({ $0.doneCount < wanted ? $0.running : nil }) { await task.value }
    }

    private func begin(_ state: inout State, _ perform: @escaping @Sendable (Needs) async -> Void) {
        let (needs, requests) = (state.wanted, state.requestCount)
        state.wanted = []
        state.running = Task(priority: .utility) { [self] in
            await perform(needs)
            self.state.withLock { state in
                state.doneCount = requests
                state.running = nil
                if !state.wanted.isEmpty { begin(&state, perform) }
            }
        }
    }
}
