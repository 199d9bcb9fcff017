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
        private let epoch: Int

        fileprivate init(
            tracker: ExchangeTracker, resource: ResourceKey, number: Int, generation: [Int], epoch: Int
        ) {
            self.tracker = tracker
            self.resource = resource
            self.number = number
            self.generation = generation
            self.epoch = epoch
        }

        deinit { tracker.end(resource, epoch: epoch) }

        /// Whether the resource has not changed since the exchange began.
        var isCurrent: Bool { tracker.state.withLock { $0.generation(of: resource) == generation } }

        /// Returns whether the response may change the entry under `key`. If so, later exchanges may still change the
        /// entry, but earlier ones may not.
        func acquire(_ key: ImageKey) -> Bool { tracker.acquire(key, for: self) }
    }

    /// A resource with exchanges in progress.
    ///
    /// A resource that is always in use, with ever new variants, has at most the records since the longest exchange in
    /// progress began. They are kept in two epochs: a record concerns only exchanges that began before it was made, so
    /// those of the earlier epoch are dropped when its exchanges have ended.
    private struct Entry {
        /// The number of records with which an epoch may end.
        private static let epochSize = 64

        var count = 0
        var generation = 0
        private(set) var epoch = 0
        /// The number of exchanges in progress that began in an earlier epoch.
        private var earlierCount = 0
        /// The number of the latest exchange that has changed the entry under each key, recorded in this epoch.
        private var latest: [ImageKey: Int] = [:]
        /// The records of the epoch before.
        private var earlier: [ImageKey: Int] = [:]

        var recordCount: Int { latest.count + earlier.count }

        /// Records a change of the entry under a key, unless a later exchange has changed it. Returns whether it has
        /// recorded the change.
        mutating func record(_ number: Int, for key: ImageKey) -> Bool {
            guard max(latest[key] ?? 0, earlier[key] ?? 0) <= number else { return false }
            latest[key] = number
            if latest.count >= Self.epochSize, earlierCount == 0 {
                (earlier, latest) = (latest, [:])
                (earlierCount, epoch) = (count, epoch + 1)
            }
            return true
        }

        mutating func end(_ epoch: Int) {
            count -= 1
            guard epoch < self.epoch else { return }
            earlierCount -= 1
            if earlierCount == 0 { earlier = [:] }
        }
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
        let (number, generation, epoch) = state.withLock { state in
            state.count += 1
            state.entries[resource, default: Entry()].count += 1
            return (state.count, state.generation(of: resource), state.entries[resource]?.epoch ?? 0)
        }
        return Exchange(
            tracker: self, resource: resource, number: number, generation: generation, epoch: epoch)
    }

    /// Records that the resource may have changed, so that the exchanges in progress no longer change its entries.
    func invalidate(_ resource: ResourceKey) { state.withLock { $0.entries[resource]?.generation += 1 } }

    /// The number of changes that are recorded for a resource.
    func recordCount(of resource: ResourceKey) -> Int { state.withLock { $0.entries[resource]?.recordCount ?? 0 } }

    /// Records that all resources may have changed.
    func invalidateAll() { state.withLock { $0.generation += 1 } }

    private func acquire(_ key: ImageKey, for exchange: Exchange) -> Bool {
        state.withLock { state in
            guard state.generation(of: exchange.resource) == exchange.generation else { return false }
            return state.entries[exchange.resource]?.record(exchange.number, for: key) ?? false
        }
    }

    private func end(_ resource: ResourceKey, epoch: Int) {
        state.withLock { state in
            state.entries[resource]?.end(epoch)
            if state.entries[resource]?.count == 0 { state.entries[resource] = nil }
        }
    }
}
