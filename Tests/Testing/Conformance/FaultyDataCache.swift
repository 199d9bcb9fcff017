import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport

/// A reference implementation of a data cache, and its faults.
final class FaultyDataCache: MeasurableDataCache {
    typealias Fault = DataCacheKitTests.Fault
    typealias Storage = Watched<Entries>

    struct Entries: Sendable {
        var list: [(key: ImageKey, entry: CachedData)] = []
        var extraSize = 0
        /// A part of the size that counts for the limit only.
        var hiddenSize = 0
        /// The tasks that stored the entries.
        var writers: [ImageKey: Int] = [:]

        init() {}

        var size: Int { list.reduce(0) { $0 + $1.entry.data.count + $1.entry.metadata.count } }

        mutating func remove(_ key: ImageKey) -> CachedData? {
            guard let index = list.firstIndex(where: { $0.key == key }) else { return nil }
            return list.remove(at: index).entry
        }
    }

    private let storage: Storage
    private let sizeLimit: Int
    private let fault: Fault?

    init(_ storage: Storage, sizeLimit: Int, _ fault: Fault?) {
        self.storage = storage
        self.sizeLimit = sizeLimit
        self.fault = fault
    }

    private func known(_ key: ImageKey) -> ImageKey {
        switch fault {
        case .ignoresVariants: key.original
        case .makesNamesOfKeys:
            ImageKey(ResourceKey(key.resource.description.filter { $0 != "/" }), variant: key.variant)
        default: key
        }
    }

    func entry(for key: ImageKey) async -> CachedData? {
        let key = known(key)
        let entries = storage.value
        if fault == .findsSomethingInNothing, entries.list.isEmpty { return CachedData(Data([1])) }
        guard var found = entries.list.first(where: { $0.key == key })?.entry else { return nil }
        if fault == .losesMetadata { found.metadata = Data() }
        if fault == .forgetsExpiries { found.expiry = nil }
        if fault == .givesSlices { found.data = (Data([0]) + found.data).dropFirst() }
        return found
    }

    func store(_ entry: CachedData, for key: ImageKey) async throws {
        try Task.checkCancellation()
        let key = known(key)
        let size = entry.data.count + entry.metadata.count
        if size > sizeLimit, fault != .storesOversized {
            if fault == .oversizedEvictsAll { await removeAll() }
            throw DataCacheError(fault == .refusesOversizedWrongly ? .failed : .tooLarge, "too large")
        }
        if fault != .storesTheExpired, let expiry = entry.expiry, expiry <= Date() {
            storage.update { _ = $0.remove(key) }
            return
        }
        if fault == .dropsEmptyEntries, size == 0 { return }
        if fault == .keepsWhatItShouldReplace, storage.value.list.contains(where: { $0.key == key }) { return }
        put(fault == .tearsEntries ? torn(entry, key) : entry, key)
    }

    /// Returns a mixture with the stored entry if another task stored that one; otherwise the entry itself.
    private func torn(_ entry: CachedData, _ key: ImageKey) -> CachedData {
        let writer = withUnsafeCurrentTask { $0?.hashValue ?? 0 }
        return storage.update { entries in
            let previous = entries.writers.updateValue(writer, forKey: key)
            guard let previous, previous != writer, let old = entries.list.first(where: { $0.key == key })?.entry
            else { return entry }
            let half = entry.data.count / 2
            return CachedData(entry.data.prefix(half) + old.data.dropFirst(half))
        }
    }

    private func put(_ entry: CachedData, _ key: ImageKey) {
        let (limit, fault) = (sizeLimit, fault)
        storage.update { entries in
            let old = entries.remove(key)
            if fault == .keepsReplacedSizes, let old { entries.hiddenSize += old.data.count }
            entries.list.append((key, entry))
            while entries.size + entries.hiddenSize > limit, !entries.list.isEmpty, fault != .hasNoLimit,
                fault != .storesOversized || entries.list.count > 1
            {
                if fault == .evictsTheNewest { entries.list.removeLast() } else { entries.list.removeFirst() }
            }
        }
    }

    func remove(_ key: ImageKey) async -> Bool {
        if fault == .heedsCancellation, Task.isCancelled { return false }
        let key = known(key)
        return storage.update { $0.remove(key) != nil } || fault == .removesAlways
    }

    func removeAll() async {
        if fault == .heedsCancellation, Task.isCancelled { return }
        let fault = fault
        storage.update { entries in
            if fault == .keepsTheSizeOfAll { entries.extraSize += entries.size }
            entries.list = []
        }
    }

    func contains(_ key: ImageKey) async -> Bool {
        let key = known(key)
        return fault == .containsAlways || storage.value.list.contains { $0.key == key }
    }

    func removeAll(of resource: ResourceKey) async -> Int {
        let isLax = fault == .removesLikeResources
        return storage.update { entries in
            let before = entries.list.count
            entries.list.removeAll {
                isLax
                    ? $0.key.description.hasPrefix(resource.description) : $0.key.resource == resource
            }
            return before - entries.list.count
        }
    }

    func flush() async {
        if fault == .forgetsWhenFlushed { storage.update { $0.list = [] } }
    }

    var count: Int { fault == .countsNothing ? 0 : storage.value.list.count }

    var totalSize: Int {
        let entries = storage.value
        return entries.size + entries.extraSize
    }
}
