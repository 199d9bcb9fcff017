import AlcedoCore
import AlcedoRuntime
import FoundationEssentials
import Synchronization

/// A data cache in a dictionary.
final class DictionaryDataCache: MeasurableDataCache {
    private let entries = Mutex<[ImageKey: CachedData]>([:])

    func put(_ entry: CachedData, for key: ImageKey) { entries.withLock { $0[key] = entry } }

    func entry(for key: ImageKey) async -> CachedData? { entries.withLock { $0[key] } }

    func contains(_ key: ImageKey) async -> Bool { entries.withLock { $0[key] != nil } }

    func store(_ entry: CachedData, for key: ImageKey) async throws { put(entry, for: key) }

    func remove(_ key: ImageKey) async -> Bool { entries.withLock { $0.removeValue(forKey: key) } != nil }

    func removeAll(of resource: ResourceKey) async -> Int {
        entries.withLock { entries in
            let count = entries.count
            entries = entries.filter { $0.key.resource != resource }
            return count - entries.count
        }
    }

    func removeAll() async { entries.withLock { $0 = [:] } }

    var totalSize: Int { get async { entries.withLock { $0.values.reduce(0) { $0 + $1.data.count } } } }

    var count: Int { get async { entries.withLock { $0.count } } }
}
