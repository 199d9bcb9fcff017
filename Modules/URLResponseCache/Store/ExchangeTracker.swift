import AlcedoCore
import AlcedoRuntime

/// Tracks the exchanges in progress, so that an answer that was on its way while its resource changed is not stored,
/// and an older answer does not replace a newer one.
final class ExchangeTracker: Sendable {
    /// One exchange; ends when it is let go.
    final class Exchange: Sendable {
        let resource: ResourceKey
        private let tracker: ExchangeTracker
        fileprivate let number: Int
        fileprivate let generation: Int

        fileprivate init(tracker: ExchangeTracker, resource: ResourceKey, number: Int, generation: Int) {
            self.tracker = tracker
            self.resource = resource
            self.number = number
            self.generation = generation
        }

        deinit { tracker.end(resource) }

        /// Whether the answer may change what is stored under `key`; later answers may then, and earlier ones not.
        func acquire(_ key: ImageKey) -> Bool { tracker.acquire(key, for: self) }
    }

    private struct Entry {
        var count = 0
        var generation = 0
        /// The latest exchange that has changed what is stored under a key.
        var latest: [ImageKey: Int] = [:]
    }

    private struct State {
        var entries: [ResourceKey: Entry] = [:]
        var count = 0
    }

    private let state = Locked(State())

    /// Records that a request is sent.
    func begin(_ resource: ResourceKey) -> Exchange {
        let (number, generation) = state.withLock { state in
            state.count += 1
            state.entries[resource, default: Entry()].count += 1
            return (state.count, state.entries[resource]?.generation ?? 0)
        }
        return Exchange(tracker: self, resource: resource, number: number, generation: generation)
    }

    /// Records that the resource may have changed.
    func invalidate(_ resource: ResourceKey) { state.withLock { $0.entries[resource]?.generation += 1 } }

    private func acquire(_ key: ImageKey, for exchange: Exchange) -> Bool {
        state.withLock { state in
            guard let entry = state.entries[exchange.resource], entry.generation == exchange.generation,
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
