import AlcedoCore

/// Knows what was removed from a storage and is still there, so that it is not found again. Source: RFC 9111 section 4.4.
final class StuckEntries: Sendable {
    /// Most keys that are noted. With more, nothing in the storage is trusted any more.
    private static let limit = 1_000

    private struct State {
        var keys: Set<ImageKey> = []
        /// Resources of which nothing counts but what was stored since.
        var resources: [ResourceKey: Set<ImageKey>] = [:]
        var count = 0
        var isOverfull = false
    }

    private let state = Locked(State())

    /// Whether what is found under the key was removed before.
    func contains(_ key: ImageKey) -> Bool {
        state.withLock { state in
            guard state.count > 0 else { return state.isOverfull }
            if state.isOverfull || state.keys.contains(key) { return true }
            return state.resources[key.resource].map { !$0.contains(key) } ?? false
        }
    }

    func add(_ key: ImageKey) {
        state.withLock { state in
            if state.resources[key.resource]?.remove(key) != nil { state.count -= 1 }
            if state.keys.insert(key).inserted { Self.count(&state) }
        }
    }

    func add(_ resource: ResourceKey) {
        state.withLock { state in
            guard let stored = state.resources.updateValue([], forKey: resource) else { return Self.count(&state) }
            state.count -= stored.count
        }
    }

    /// Notes that nothing counts of all that is there.
    func addAll() { state.withLock { $0.isOverfull = true } }

    /// Notes that there is nothing.
    func reset() { state.withLock { $0 = State() } }

    /// Notes that something new has taken the place of what was there.
    func replaced(_ key: ImageKey) {
        state.withLock { state in
            guard state.count > 0, !state.isOverfull else { return }
            if state.keys.remove(key) != nil { state.count -= 1 }
            if state.resources[key.resource]?.insert(key).inserted == true { Self.count(&state) }
        }
    }

    private static func count(_ state: inout State) {
        state.count += 1
        if state.count > limit { state = State(isOverfull: true) }
    }
}
