public import AlcedoCore
import AlcedoRuntime
public import FoundationEssentials

/// A data cache that combines several caches as tiers: for example a small, fast cache above a large, slow one, or the
/// app's cache above a read-only cache that ships with the app.
///
/// ```swift
/// let cache = TieredDataCache([
///     DataCacheTier(FileDiskCache(directory: caches, sizeLimit: 64 << 20)),
///     DataCacheTier(FileDiskCache(directory: bundled), writes: .readOnly),
/// ])
/// ```
///
/// A read searches the tiers in order, one at a time, until one has the entry, and only that tier records a use. The
/// tiers above it that accept promotions then store the entry, and the read waits for them.
///
/// Changes of one resource run one at a time, in order. An entry that is removed or stored while a read is in progress
/// is neither restored nor replaced by its promotion. The cache does not see changes made to a tier directly or by
/// another process. An entry in a read-only tier is found again after a removal, so place such a tier last.
public final class TieredDataCache: MeasurableDataCache {
    private let tiers: [DataCacheTier]

    private let generations: GenerationCounter
    private let counts = Locked(CacheStatistics())

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - tiers: The tiers, in the order in which they are searched.
    ///   - taskExecutor: The executor of changes, such as a `ManualExecutor` of `AlcedoTesting`. Default: nil, for
    ///     Swift's own.
    public init(_ tiers: [DataCacheTier], taskExecutor: (any TaskExecutor)? = nil) {
        self.tiers = tiers
        generations = GenerationCounter(taskExecutor: taskExecutor)
    }

    /// The reads and stores through this cache. Each counts once, however many tiers took part. The tiers count damaged
    /// and trimmed entries.
    public var statistics: CacheStatistics { counts.withLock { $0 } }

    private var writableTiers: [DataCacheTier] { tiers.filter { $0.writes != .readOnly } }

    /// Returns the entry of the first tier that has one, after storing it in the tiers above that accept promotions.
    /// Returns nil when no tier has the entry.
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

    /// Returns whether any tier contains the key.
    public func contains(_ key: ImageKey) async -> Bool {
        for tier in tiers where await tier.cache.contains(key) { return true }
        return false
    }

    /// Returns the metadata of the first tier that has the entry. Stores the entry in no other tier.
    public func metadata(for key: ImageKey) async -> Data? {
        for tier in tiers {
            if let metadata = await tier.cache.metadata(for: key) { return metadata }
        }
        return nil
    }

    /// Stores `entry` in all tiers that accept stores, in order.
    ///
    /// When a tier has no space for the entry (`tooLarge`), the store succeeds if another tier stores it. The previous
    /// entry under `key` is removed from each tier that does not store the new one and is not read-only, so that no
    /// outdated entry is found there.
    /// - Throws: The first error of a tier, after all tiers were tried; other tiers may have stored the entry.
    ///   `tooLarge` is thrown only when no tier stored the entry. `DataCacheError` `notWritable` when no tier accepts
    ///   stores.
    public func store(_ entry: CachedData, for key: ImageKey) async throws {
        let storing = generations.submit(.resource(key.resource)) { await self.storeInTiers(entry, for: key) }
        try await withTaskCancellationHandler {
            try await storing.value.get()
        } onCancel: {
            storing.cancel()
        }
    }

    /// Removes the entry under `key` from all tiers that are not read-only. Returns whether any of them had it.
    @discardableResult
    public func remove(_ key: ImageKey) async -> Bool {
        await generations.submit(.resource(key.resource)) { [writableTiers] in
            var isFound = false
            for tier in writableTiers where await tier.cache.remove(key) { isFound = true }
            return isFound
        }.value
    }

    /// Removes a resource from all tiers that are not read-only. Returns the number of entries removed from the tier
    /// that had the most.
    @discardableResult
    public func removeAll(of resource: ResourceKey) async -> Int {
        await generations.submit(.resource(resource)) { [writableTiers] in
            var count = 0
            for tier in writableTiers { count = await max(count, tier.cache.removeAll(of: resource)) }
            return count
        }.value
    }

    /// Removes everything from all tiers that are not read-only.
    public func removeAll() async {
        await generations.submit(.everything) { [writableTiers] in
            for tier in writableTiers { await tier.cache.removeAll() }
        }.value
    }

    /// Waits for all changes so far, and flushes all tiers.
    public func flush() async {
        await generations.settle(.everything)
        for tier in tiers { await tier.cache.flush() }
    }

    /// The number of bytes in all tiers together. An entry in two tiers counts twice.
    public var totalSize: Int {
        get async {
            var size = 0
            for tier in tiers { size += await tier.cache.totalSize }
            return size
        }
    }

    /// The number of entries in the tier that has the most. The total is greater when tiers have different entries.
    public var count: Int {
        get async {
            var count = 0
            for tier in tiers { count = await max(count, tier.cache.count) }
            return count
        }
    }

    private func promote(_ entry: CachedData, for key: ImageKey, above index: Int, since generation: Generation) async {
        let targets = tiers.prefix(index).filter { $0.writes.includesPromotions }
        guard !targets.isEmpty else { return }
        await generations.submitIfUnchanged(key.resource, since: generation) {
            // An error is ignored, because the entry is still found in the lower tier.
            for tier in targets { try? await tier.cache.store(entry, for: key) }
        }?.value
    }

    private func storeInTiers(_ entry: CachedData, for key: ImageKey) async -> Result<Void, any Error> {
        var isStored = false
        var tooLargeError: DataCacheError?
        var failure: (any Error)?
        for tier in writableTiers {
            guard tier.writes.includesStores else {
                await tier.cache.remove(key)
                continue
            }
            do {
                try await tier.cache.store(entry, for: key)
                isStored = true
            } catch {
                await tier.cache.remove(key)
                if let error = error as? DataCacheError, error.code == .tooLarge {
                    tooLargeError = tooLargeError ?? error
                } else {
                    failure = failure ?? error
                }
            }
        }
        if failure == nil, !isStored {
            failure = tooLargeError ?? DataCacheError(.notWritable, "cannot store the entry: no tier accepts stores")
        }
        guard let failure else {
            counts.withLock { $0.stores += 1 }
            return .success(())
        }
        counts.withLock { $0.failures += 1 }
        return .failure(failure)
    }
}
