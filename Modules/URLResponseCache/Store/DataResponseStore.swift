package import AlcedoCore
package import AlcedoHTTP
import AlcedoRuntime
package import FoundationEssentials

/// Keeps HTTP answers in a data cache, usually on disk: the body as the entry's data, the rest as its metadata.
///
/// The data cache keeps its own limits and finds what is damaged; what cannot be read is a miss and goes. It should
/// belong to the response cache alone. What it does not remove when told to, as in a directory that may only be read, is
/// not found here any more; the next process finds it again.
package final class DataResponseStore: ResponseStoring {
    private let cache: any MeasurableDataCache
    /// The keys of entries stored at a date or later; nil when the cache cannot tell.
    private let keysStoredSince: (@Sendable (Date) async -> [ImageKey])?
    private let unremoved = UnremovedEntries()

    /// Keeps responses in this cache. With one that can list its entries, ``removeAll(storedSince:)`` removes no more than
    /// it should.
    package init(_ cache: any MeasurableDataCache) {
        self.cache = cache
        guard let cache = cache as? any MaintainableDataCache else {
            keysStoredSince = nil
            return
        }
        keysStoredSince = { date in
            var keys: [ImageKey] = []
            for item in await cache.items() where item.storedAt >= date {
                if let key = await cache.key(named: item.name) { keys.append(key) }
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

    /// An answer that may be kept in memory only is not stored.
    package func store(_ entry: ResponseEntry, for key: ImageKey) async {
        if entry.storagePolicy == .allowed {
            let (metadata, body) = entry.encoded
            // In a task of its own: a caller who has what he wants and leaves must not undo the storing.
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
        // Without this entry none of its variants is found.
        if await cache.contains(ImageKey(resource)) { unremoved.add(resource) }
    }

    /// Removes everything when the data cache cannot list its entries.
    package func removeAll(storedSince date: Date) async {
        guard let keysStoredSince else { return await removeAll() }
        for key in await keysStoredSince(date) {
            // The list of a resource's variants is written anew for each; without it older ones would not be found.
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

/// Knows what was removed from a storage and is still there, so that it is not found again. Source: RFC 9111 section 4.4.
private final class UnremovedEntries: Sendable {
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
