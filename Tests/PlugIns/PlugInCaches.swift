import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import FoundationEssentials
import Synchronization

/// A memory cache that evicts the image that was stored first.
final class PlugInMemoryCache: MaintainableMemoryCache {
    private struct State {
        var images: [(key: ImageKey, image: DecodedImage)] = []

        var cost: Int { images.reduce(0) { $0 + $1.image.cost } }

        mutating func remove(where isRemoved: (ImageKey) -> Bool) -> Int {
            let count = images.count
            images.removeAll { isRemoved($0.key) }
            return count - images.count
        }

        mutating func trim(to cost: Int) { while self.cost > max(0, cost) { images.removeFirst() } }
    }

    private let costLimit: Int
    private let state = Mutex(State())

    init(costLimit: Int) { self.costLimit = costLimit }

    func image(for key: ImageKey) -> DecodedImage? {
        state.withLock { state in state.images.first { $0.key == key }?.image }
    }

    func contains(_ key: ImageKey) -> Bool { state.withLock { state in state.images.contains { $0.key == key } } }

    func store(_ image: DecodedImage, for key: ImageKey) {
        state.withLock { state in
            _ = state.remove { $0 == key }
            guard image.cost <= costLimit else { return }
            state.images.append((key, image))
            state.trim(to: costLimit)
        }
    }

    func remove(_ key: ImageKey) -> Bool { state.withLock { $0.remove { $0 == key } } > 0 }

    func removeAll(of resource: ResourceKey) -> Int { state.withLock { $0.remove { $0.resource == resource } } }

    func removeAll() { state.withLock { $0 = State() } }

    var totalCost: Int { state.withLock { $0.cost } }

    func trim(toCost cost: Int) { state.withLock { $0.trim(to: cost) } }
}

/// A data cache whose entries can be listed and trimmed. Caches with one storage share their entries, as caches of one
/// directory do.
final class PlugInDataCache: MaintainableDataCache {
    final class Storage: Sendable {
        fileprivate let state = Mutex(State())
    }

    fileprivate struct Entry {
        let key: ImageKey
        let data: CachedData
        let storedAt: Date
        var lastUse: Date

        var size: Int { data.data.count + data.metadata.count }

        func isExpired(at now: Date) -> Bool { data.expiry.map { $0 <= now } ?? false }

        func item(_ reason: EvictionReason? = nil) -> DataCacheItem {
            DataCacheItem(
                name: key.fileName, size: size, storedAt: storedAt, lastUse: lastUse, expiry: data.expiry,
                evictionReason: reason)
        }
    }

    fileprivate struct State {
        /// The entries, the least recently used first.
        var entries: [Entry] = []
        var statistics = CacheStatistics()
        var observers: [Int: @Sendable (DataCacheTrimReport) -> Void] = [:]
        var lastObserver = 0

        var size: Int { entries.reduce(0) { $0 + $1.size } }

        mutating func remove(where isRemoved: (ImageKey) -> Bool) -> Int {
            let count = entries.count
            entries.removeAll { isRemoved($0.key) }
            return count - entries.count
        }

        mutating func trim(toSize sizeLimit: Int, count maximumCount: Int, at now: Date) -> [DataCacheItem] {
            var removals = entries.filter { $0.isExpired(at: now) }.map { $0.item(.expired) }
            entries.removeAll { $0.isExpired(at: now) }
            while size > sizeLimit || entries.count > maximumCount, !entries.isEmpty {
                removals.append(entries.removeFirst().item(.trimmed))
            }
            for removal in removals {
                if let reason = removal.evictionReason { statistics.evictions[reason, default: 0] += 1 }
            }
            return removals
        }
    }

    /// Ends an observation when it is released.
    private final class Token: Sendable {
        let storage: Storage
        let number: Int

        init(storage: Storage, number: Int) { (self.storage, self.number) = (storage, number) }

        deinit { storage.state.withLock { $0.observers[number] = nil } }
    }

    private let storage: Storage
    private let sizeLimit: Int
    private let clock: any TimeSource

    init(_ storage: Storage = Storage(), sizeLimit: Int, clock: any TimeSource = SystemClock()) {
        self.storage = storage
        self.sizeLimit = sizeLimit
        self.clock = clock
    }

    func entry(for key: ImageKey) async -> CachedData? {
        let now = clock.now
        return storage.state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.key == key && !$0.isExpired(at: now) }) else {
                state.statistics.misses += 1
                return nil
            }
            var entry = state.entries.remove(at: index)
            entry.lastUse = now
            state.entries.append(entry)
            state.statistics.hits += 1
            return entry.data
        }
    }

    func contains(_ key: ImageKey) async -> Bool {
        let now = clock.now
        return storage.state.withLock { $0.entries.contains { $0.key == key && !$0.isExpired(at: now) } }
    }

    func store(_ data: CachedData, for key: ImageKey) async throws {
        try Task.checkCancellation()
        let now = clock.now
        let entry = Entry(key: key, data: data, storedAt: now, lastUse: now)
        guard entry.size <= sizeLimit else {
            storage.state.withLock { $0.statistics.failures += 1 }
            throw DataCacheError(.tooLarge, "\(entry.size) bytes exceed the limit of \(sizeLimit) bytes")
        }
        let removals = storage.state.withLock { state in
            _ = state.remove { $0 == key }
            state.statistics.stores += 1
            if !entry.isExpired(at: now) { state.entries.append(entry) }
            return state.trim(toSize: sizeLimit, count: .max, at: now)
        }
        report(removals)
    }

    func remove(_ key: ImageKey) async -> Bool { storage.state.withLock { $0.remove { $0 == key } } > 0 }

    func removeAll(of resource: ResourceKey) async -> Int {
        storage.state.withLock { $0.remove { $0.resource == resource } }
    }

    func removeAll() async { storage.state.withLock { $0.entries = [] } }

    var totalSize: Int { get async { storage.state.withLock { $0.size } } }

    var count: Int { get async { storage.state.withLock { $0.entries.count } } }

    var statistics: CacheStatistics { storage.state.withLock { $0.statistics } }

    func items() async -> [DataCacheItem] {
        let now = clock.now
        return storage.state.withLock { $0.entries.filter { !$0.isExpired(at: now) }.map { $0.item() } }
    }

    func key(named name: String) async -> ImageKey? {
        let now = clock.now
        return storage.state.withLock { state in
            state.entries.first { $0.key.fileName == name && !$0.isExpired(at: now) }?.key
        }
    }

    func trim(toSize size: Int?, count: Int?) async -> DataCacheTrimReport {
        let now = clock.now
        let removals = storage.state.withLock { state in
            let isOwn = size == nil && count == nil
            return state.trim(toSize: size ?? (isOwn ? sizeLimit : .max), count: count ?? .max, at: now)
        }
        report(removals)
        return DataCacheTrimReport(removals: removals)
    }

    func observeTrims(_ handler: @escaping @Sendable (DataCacheTrimReport) -> Void) -> any Sendable {
        let number = storage.state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = handler
            return state.lastObserver
        }
        return Token(storage: storage, number: number)
    }

    private func report(_ removals: [DataCacheItem]) {
        guard !removals.isEmpty else { return }
        let observers = storage.state.withLock { Array($0.observers.values) }
        for observer in observers { observer(DataCacheTrimReport(removals: removals)) }
    }
}

/// A store of responses as bytes, as a file or a database would have them.
actor PlugInResponseStore: ResponseStoring {
    private struct Entry {
        let metadata: Data
        let body: Data
        /// The date of the response; nil for a list of variants.
        let date: Date?
    }

    private let byteLimit: Int
    private var entries: [ImageKey: Entry] = [:]
    private var order: [ImageKey] = []

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    func entry(for key: ImageKey) -> ResponseEntry? {
        entries[key].flatMap { ResponseEntry(metadata: $0.metadata, body: $0.body) }
    }

    func store(_ entry: ResponseEntry, for key: ImageKey) {
        remove(key)
        var date: Date?
        if case .response(let response) = entry {
            guard response.storagePolicy == .allowed else { return }
            date = response.responseTime
        }
        let (metadata, body) = entry.encoded
        guard metadata.count + body.count <= byteLimit else { return }
        entries[key] = Entry(metadata: metadata, body: body, date: date)
        order.append(key)
        while size > byteLimit, let oldest = order.first { remove(oldest) }
    }

    private var size: Int { entries.values.reduce(0) { $0 + $1.metadata.count + $1.body.count } }

    func remove(_ key: ImageKey) {
        entries[key] = nil
        order.removeAll { $0 == key }
    }

    func removeAll(of resource: ResourceKey) {
        for key in order where key.resource == resource { remove(key) }
    }

    func removeAll(storedSince date: Date) {
        for key in order where entries[key]?.date.map({ $0 >= date }) ?? false { remove(key) }
    }

    func removeAll() {
        entries = [:]
        order = []
    }
}
