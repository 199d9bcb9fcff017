import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport

/// A dictionary without eviction.
final class DictionaryMemoryCache: MaintainableMemoryCache {
    private let images = Watched<[ImageKey: DecodedImage]>([:])

    var count: Int { images.value.count }

    func image(for key: ImageKey) -> DecodedImage? { images.value[key] }

    func contains(_ key: ImageKey) -> Bool { images.value[key] != nil }

    func store(_ image: DecodedImage, for key: ImageKey) { images.update { $0[key] = image } }

    func remove(_ key: ImageKey) -> Bool { images.update { $0.removeValue(forKey: key) != nil } }

    func removeAll(of resource: ResourceKey) -> Int {
        images.update { images in
            let before = images.count
            images = images.filter { $0.key.resource != resource }
            return before - images.count
        }
    }

    func removeAll() { images.update { $0 = [:] } }

    func trim(toCost cost: Int) { removeAll() }

    var totalCost: Int { images.value.values.reduce(0) { $0 + $1.cost } }
}

/// Entries in a dictionary. Stores run a closure that may wait or fail, and reads run one that may wait.
final class FakeDataCache: MeasurableDataCache {
    let entries = Watched<[ImageKey: CachedData]>([:])
    let reads = Watched(0)
    /// The keys of the calls of ``contains(_:)``.
    let checks = Watched<[ImageKey]>([])
    /// The keys of the calls of ``metadata(for:)``.
    let metadataReads = Watched<[ImageKey]>([])
    let stores = Watched(0)
    private let beforeStore: @Sendable (_ number: Int) async throws -> Void
    private let afterRead: @Sendable (_ number: Int) async -> Void

    /// - Parameters:
    ///   - beforeStore: Gets the number of the store; the first is 1.
    ///   - afterRead: Gets the number of the read, when its outcome is settled and not yet returned; the first is 1.
    init(
        beforeStore: @escaping @Sendable (_ number: Int) async throws -> Void = { _ in },
        afterRead: @escaping @Sendable (_ number: Int) async -> Void = { _ in }
    ) {
        self.beforeStore = beforeStore
        self.afterRead = afterRead
    }

    func entry(for key: ImageKey) async -> CachedData? {
        let number = reads.update { count -> Int in
            count += 1
            return count
        }
        let entry = entries.value[key]
        await afterRead(number)
        return entry
    }

    func store(_ entry: CachedData, for key: ImageKey) async throws {
        let number = stores.update { count -> Int in
            count += 1
            return count
        }
        try await beforeStore(number)
        entries.update { $0[key] = entry }
    }

    func remove(_ key: ImageKey) async -> Bool { entries.update { $0.removeValue(forKey: key) != nil } }

    func removeAll() async { entries.update { $0 = [:] } }

    func contains(_ key: ImageKey) async -> Bool {
        checks.update { $0.append(key) }
        return entries.value[key] != nil
    }

    func metadata(for key: ImageKey) async -> Data? {
        metadataReads.update { $0.append(key) }
        return entries.value[key]?.metadata
    }

    func removeAll(of resource: ResourceKey) async -> Int {
        entries.update { entries in
            let before = entries.count
            entries = entries.filter { $0.key.resource != resource }
            return before - entries.count
        }
    }

    var count: Int { entries.value.count }

    var totalSize: Int { entries.value.values.reduce(0) { $0 + $1.data.count } }
}
