public import AlcedoCore
import AlcedoRuntime

/// Several data caches as one: a small and quick one above a large and slow one, or a cache that an app ships with below
/// its own.
///
/// Tiers are asked in order, one after another, and the first that has an entry answers; only its own use is counted. The
/// tiers above it that take promotions then get the entry, and the hit waits for them. A promotion never brings back what
/// was removed, and never covers what was stored, while the entry was on its way: changes of a resource through this cache
/// go one after another, and one that came in between ends the promotion. Changes that are made to a tier directly, or by
/// another process, are not seen.
///
/// An entry in a read-only tier hides what is stored below it, and is found again after a removal: such a tier belongs at
/// the end.
///
/// SDWebImage's `SDImageCachesManager` has four policies for each operation. Reads here are its `serial`; its `concurrent`
/// asks every tier for what one of them answers. For stores, its `serial` and `concurrent` are tiers that all have
/// ``DataCacheTier/Writes/stores``; `highestOnly` and `lowestOnly` are that for the first or last tier alone.
public final class TieredDataCache: MeasurableDataCache {
    private let tiers: [DataCacheTier]

    private let generations: GenerationCounter
    private let counts = Locked(DataCacheStatistics())

    /// - Parameter tiers: The first to be asked first.
    public convenience init(_ tiers: [DataCacheTier]) { self.init(tiers, taskExecutor: nil) }

    /// - Parameters:
    ///   - tiers: The first to be asked first.
    ///   - taskExecutor: Runs the changes; nil is Swift's own executor.
    package init(_ tiers: [DataCacheTier], taskExecutor: (any TaskExecutor)?) {
        self.tiers = tiers
        generations = GenerationCounter(taskExecutor: taskExecutor)
    }

    /// The reads and stores through this cache, each once however many tiers took part. Damaged and trimmed entries are
    /// counted by the tiers.
    public var statistics: DataCacheStatistics { counts.withLock { $0 } }

    private var writableTiers: [DataCacheTier] { tiers.filter { $0.writes != .readOnly } }

    public func entry(for key: ImageKey) async -> CachedData? {
        let generation = generations.current(key.resource)
        for (index, tier) in tiers.enumerated() {
            guard let entry = await tier.cache.entry(for: key) else { continue }
            counts.withLock { $0.hits += 1 }
            if let generation { await promote(entry, for: key, above: index, since: generation) }
            return entry
        }
        counts.withLock { $0.misses += 1 }
        return nil
    }

    /// Whether any tier contains it.
    public func contains(_ key: ImageKey) async -> Bool {
        for tier in tiers where await tier.cache.contains(key) { return true }
        return false
    }

    /// Stores `entry` in all tiers that take stores, the first first.
    ///
    /// A tier that has no room for it (`tooLarge`) is passed over as long as another takes it. A tier that does not get the
    /// entry loses what it had under `key`, so that nothing old is found.
    ///
    /// - Throws: The first error of a tier, after all have been tried; the entry may then be in others. `DataCacheError`
    ///   `notWritable` when no tier takes stores.
    public func store(_ entry: CachedData, for key: ImageKey) async throws {
        let storing = generations.submit(.resource(key.resource)) { await self.storeInTiers(entry, for: key) }
        try await withTaskCancellationHandler {
            try await storing.value.get()
        } onCancel: {
            storing.cancel()
        }
    }

    /// Removes what is stored under `key` from all tiers but read-only ones. Returns whether any had it.
    @discardableResult
    public func remove(_ key: ImageKey) async -> Bool {
        await generations.submit(.resource(key.resource)) { [writableTiers] in
            var isFound = false
            for tier in writableTiers where await tier.cache.remove(key) { isFound = true }
            return isFound
        }.value
    }

    /// Removes a resource from all tiers but read-only ones. Returns the greatest number of entries that one of them had.
    @discardableResult
    public func removeAll(of resource: ResourceKey) async -> Int {
        await generations.submit(.resource(resource)) { [writableTiers] in
            var count = 0
            for tier in writableTiers { count = await max(count, tier.cache.removeAll(of: resource)) }
            return count
        }.value
    }

    /// Removes everything from all tiers but read-only ones.
    public func removeAll() async {
        await generations.submit(.everything) { [writableTiers] in
            for tier in writableTiers { await tier.cache.removeAll() }
        }.value
    }

    public func flush() async {
        await generations.settle(.everything)
        for tier in tiers { await tier.cache.flush() }
    }

    /// The number of bytes in all tiers together. An entry in two of them counts twice; a tier that is no
    /// ``MeasurableDataCache`` counts as empty.
    public var totalSize: Int {
        get async {
            var size = 0
            for case let cache as any MeasurableDataCache in tiers.map(\.cache) { size += await cache.totalSize }
            return size
        }
    }

    /// The greatest number of entries in one tier. There are more when tiers keep different ones.
    public var count: Int {
        get async {
            var count = 0
            for case let cache as any MeasurableDataCache in tiers.map(\.cache) {
                count = await max(count, cache.count)
            }
            return count
        }
    }

    private func promote(_ entry: CachedData, for key: ImageKey, above index: Int, since generation: Generation) async {
        let targets = tiers.prefix(index).filter { $0.writes.includesPromotions }
        guard !targets.isEmpty else { return }
        await generations.submitIfUnchanged(key.resource, since: generation) {
            // A tier that does not take it goes on answering with nothing.
            for tier in targets { try? await tier.cache.store(entry, for: key) }
        }?.value
    }

    private func storeInTiers(_ entry: CachedData, for key: ImageKey) async -> Result<Void, any Error> {
        var isTaken = false
        var excess: DataCacheError?
        var failure: (any Error)?
        for tier in writableTiers {
            guard tier.writes.includesStores else {
                await tier.cache.remove(key)
                continue
            }
            do {
                try await tier.cache.store(entry, for: key)
                isTaken = true
            } catch {
                await tier.cache.remove(key)
                if let error = error as? DataCacheError, error.code == .tooLarge {
                    excess = excess ?? error
                } else {
                    failure = failure ?? error
                }
            }
        }
        if failure == nil, !isTaken { failure = excess ?? DataCacheError(.notWritable, "no tier takes stores") }
        guard let failure else {
            counts.withLock { $0.stores += 1 }
            return .success(())
        }
        counts.withLock { $0.failures += 1 }
        return .failure(failure)
    }
}

/// One of the caches of a ``TieredDataCache``, and what is written to it.
public struct DataCacheTier: Sendable {
    /// The changes that a tier takes.
    public enum Writes: Sendable, Hashable {
        /// Stores, and entries that were found in a tier below.
        case all
        /// Stores only.
        case stores
        /// Entries that were found in a tier below only.
        case promotions
        /// None. Nothing is removed from the tier either.
        case readOnly

        var includesStores: Bool { self == .all || self == .stores }
        var includesPromotions: Bool { self == .all || self == .promotions }
    }

    let cache: any DataCaching
    let writes: Writes

    /// Creates a tier.
    ///
    /// - Parameters:
    ///   - cache: The cache that keeps the bytes of the tier.
    ///   - writes: The changes that the tier takes. Default: all.
    public init(_ cache: any DataCaching, writes: Writes = .all) {
        self.cache = cache
        self.writes = writes
    }
}
