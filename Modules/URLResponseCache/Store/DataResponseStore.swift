package import AlcedoCore
package import AlcedoHTTP
import AlcedoRuntime
package import FoundationEssentials

/// A store of HTTP responses in a data cache, usually on disk. The body of a response is the data of a cache entry, and
/// everything else is its metadata.
///
/// The data cache enforces its own limits and detects damage. An entry that cannot be decoded is a miss and is removed.
/// No other component should use the data cache. If the data cache fails to remove an entry, such as in a read-only
/// directory, this store no longer returns the entry, but a store that is created later does.
package final class DataResponseStore: ResponseStoring {
    private let cache: any MeasurableDataCache
    /// A function that returns the keys of the entries stored at a date or later; nil if the cache cannot list its
    /// entries.
    private let keysStoredSince: (@Sendable (Date) async -> [ImageKey])?
    private let unremoved = UnremovedEntries()

    /// Creates a store in a data cache. If the cache can list its entries, ``removeAll(storedSince:)`` removes only
    /// those that were stored since the date; otherwise, it removes all.
    package init(_ cache: any MeasurableDataCache) {
        self.cache = cache
        guard let maintenance = cache.maintenance else {
            keysStoredSince = nil
            return
        }
        keysStoredSince = { date in
            var keys: [ImageKey] = []
            for item in await maintenance.items() where item.storedAt >= date {
                if let key = await maintenance.key(named: item.name) { keys.append(key) }
            }
            return keys
        }
    }

    package func entry(for key: ImageKey) async -> ResponseEntry? {
        guard !unremoved.contains(key), let found = await cache.entry(for: key) else { return nil }
        if let entry = ResponseEntry(metadata: found.metadata, body: found.data) { return entry }
        await cache.remove(key)
        return nil
    }

    /// Stores an entry. If the write fails, or the storage policy of the response is not `allowed`, the entry under its
    /// key is removed.
    package func store(_ entry: ResponseEntry, for key: ImageKey) async {
        if entry.storagePolicy == .allowed {
            let (metadata, body) = entry.encoded
            // A separate task: cancellation of the caller must not interrupt the write.
            let stored = Task { [cache] in try await cache.store(CachedData(body, metadata: metadata), for: key) }
            if case .success = await stored.result { return unremoved.replaced(key) }
        }
        await remove(key)
    }

    package func remove(_ key: ImageKey) async {
        await cache.remove(key)
        if await cache.contains(key) { unremoved.add(key) }
    }

    package func removeAll(of resource: ResourceKey) async {
        await cache.removeAll(of: resource)
        // Without this entry, none of the resource's variants is found.
        if await cache.contains(ImageKey(resource)) { unremoved.add(resource) }
    }

    /// Removes the entries that were stored at `date` or later. Removes all entries if the data cache cannot list them.
    package func removeAll(storedSince date: Date) async {
        guard let keysStoredSince else { return await removeAll() }
        for key in await keysStoredSince(date) {
            // The list of a resource's variants is rewritten for each new variant. Without it, older variants would not
            // be found.
            if key.variant.isEmpty, case .variants = await entry(for: key) { continue }
            await remove(key)
        }
    }

    package func removeAll() async {
        await cache.removeAll()
        if await cache.count > 0 { unremoved.addAll() } else { unremoved.reset() }
    }

    package func flush() async { await cache.flush() }
}

/// A record of the entries that were removed but still exist in the storage, so that they are not returned again.
/// Source: RFC 9111 section 4.4.
private final class UnremovedEntries: Sendable {
    /// The maximum number of recorded keys. Beyond it, no entry of the storage is returned any more.
    private static let limit = 1_000

    private struct State {
        var keys: Set<ImageKey> = []
        /// Resources that were removed, with the keys that were stored since. Only these keys are valid.
        var resources: [ResourceKey: Set<ImageKey>] = [:]
        var count = 0
        var isOverfull = false
    }

    private let state = Locked(State())

    /// Whether the entry under the key counts as removed.
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

    /// Records that all entries were removed but still exist.
    func addAll() { state.withLock { $0.isOverfull = true } }

    /// Records that the storage is empty.
    func reset() { state.withLock { $0 = State() } }

    /// Records that a new entry has replaced the one under the key.
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
