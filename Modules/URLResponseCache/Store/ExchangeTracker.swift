import AlcedoCore
import AlcedoRuntime

/// The exchanges in progress. A response that was in flight while its resource changed is not stored, and does not
/// replace a newer one.
final class ExchangeTracker: Sendable {
    /// One exchange. It ends when it is released.
    final class Exchange: Sendable {
        let resource: ResourceKey
        private let tracker: ExchangeTracker
        fileprivate let number: Int
        /// The generation of the resource and that of all resources.
        fileprivate let generation: [Int]

        fileprivate init(tracker: ExchangeTracker, resource: ResourceKey, number: Int, generation: [Int]) {
            self.tracker = tracker
            self.resource = resource
            self.number = number
            self.generation = generation
        }

        deinit { tracker.end(resource) }

        /// Whether the resource has not changed since the exchange began.
        var isCurrent: Bool { tracker.state.withLock { $0.generation(of: resource) == generation } }

        /// Returns whether the response may change the entry under `key`. If so, later exchanges may still change the
        /// entry, but earlier ones may not.
        func acquire(_ key: ImageKey) -> Bool { tracker.acquire(key, for: self) }
    }

    private struct Entry {
        var count = 0
        var generation = 0
        /// The number of the latest exchange that has changed the entry under each key.
        var latest: [ImageKey: Int] = [:]
    }

    private struct State {
        var entries: [ResourceKey: Entry] = [:]
        var count = 0
        /// The generation of all resources.
        var generation = 0

        func generation(of resource: ResourceKey) -> [Int] { [entries[resource]?.generation ?? 0, generation] }
    }

    private let state = Locked(State())

    /// Records the start of an exchange, before its request is sent.
    func begin(_ resource: ResourceKey) -> Exchange {
        let (number, generation) = state.withLock { state in
            state.count += 1
            state.entries[resource, default: Entry()].count += 1
            return (state.count, state.generation(of: resource))
        }
        return Exchange(tracker: self, resource: resource, number: number, generation: generation)
    }

    /// Records that the resource may have changed, so that the exchanges in progress no longer change its entries.
    func invalidate(_ resource: ResourceKey) { state.withLock { $0.entries[resource]?.generation += 1 } }

    /// Records that all resources may have changed.
    func invalidateAll() { state.withLock { $0.generation += 1 } }

    private func acquire(_ key: ImageKey, for exchange: Exchange) -> Bool {
        state.withLock { state in
            guard let entry = state.entries[exchange.resource],
                state.generation(of: exchange.resource) == exchange.generation,
                entry.latest[key] ?? 0 <= exchange.number
            else { return false }
            state.entries[exchange.resource]?.latest[key] = exchange.number
            return true
        }
    }

    private func end(_ resource: ResourceKey) {
        state.withLock { state in
            state.entries[resource]?.count -= 1
            if state.entries[resource]?.count == 0 { state.entries[resource] = nil }
        }
    }
}
