import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// A kit that cannot fail proves nothing, so each of these caches has one fault.
@Suite(.timeLimit(.minutes(10)))
struct DataCacheKitTests {
    private struct WeakCache: Sendable {
        weak let cache: FaultyDataCache?
    }

    private static let checks = DataCacheConformance.checks + DataCacheConformance.persistenceChecks

    enum Fault: CaseIterable {
        case losesMetadata, findsSomethingInNothing, givesSlices, dropsEmptyEntries, keepsWhatItShouldReplace
        case ignoresVariants, makesNamesOfKeys, removesAlways, keepsTheSizeOfAll, hasNoLimit, evictsTheNewest
        case storesOversized, refusesOversizedWrongly, oversizedEvictsAll, tearsEntries, heedsCancellation
        case forgetsAtTheEnd, hasOneStorage, removesLikeResources, countsNothing, containsAlways, forgetsExpiries
        case storesTheExpired, forgetsWhenFlushed, keepsReplacedSizes

        var broken: Set<String> {
            switch self {
            case .losesMetadata:
                [
                    "a stored entry is returned with its metadata", "the metadata of an entry is returned alone",
                    "entries persist after the cache is deinitialized",
                ]
            case .findsSomethingInNothing:
                [
                    "a key without an entry returns nil", "removeAll removes all entries",
                    "caches with separate storage share no entries",
                ]
            case .givesSlices: ["the returned data has the start index 0"]
            case .dropsEmptyEntries: ["an entry with empty data is stored and returned"]
            case .keepsWhatItShouldReplace: ["storing under an existing key replaces the entry"]
            case .keepsReplacedSizes: ["replacing an entry frees the size of the old entry"]
            case .ignoresVariants:
                [
                    "a variant and the original are separate entries", "contains returns whether a key has an entry",
                    "the metadata of an entry is returned alone",
                    "removing a resource removes its original and variants only and returns their number",
                ]
            case .makesNamesOfKeys: ["a key may contain any characters"]
            case .removesAlways: ["remove removes only its entry and returns whether it existed"]
            case .keepsTheSizeOfAll:
                ["removeAll removes all entries", "removals complete in a canceled task"]
            case .hasNoLimit, .evictsTheNewest: ["the size stays within the limit and the newest entry is kept"]
            case .storesOversized, .refusesOversizedWrongly, .oversizedEvictsAll:
                ["storing an entry above the limit throws and evicts nothing"]
            case .tearsEntries: ["concurrent tasks read only complete entries"]
            case .heedsCancellation: ["removals complete in a canceled task"]
            case .forgetsAtTheEnd: ["entries persist after the cache is deinitialized"]
            case .removesLikeResources:
                ["removing a resource removes its original and variants only and returns their number"]
            case .countsNothing:
                [
                    "the count is the number of entries",
                    "the size stays within the limit and the newest entry is kept",
                    "removing a resource removes its original and variants only and returns their number",
                ]
            case .containsAlways:
                [
                    "contains returns whether a key has an entry",
                    "storing an expired entry removes the existing entry",
                    "removing a resource removes its original and variants only and returns their number",
                ]
            case .forgetsExpiries:
                ["an entry is returned with its expiry", "entries persist after the cache is deinitialized"]
            case .storesTheExpired: ["storing an expired entry removes the existing entry"]
            case .forgetsWhenFlushed:
                [
                    "flush returns and loses no entry", "entries persist after the cache is deinitialized",
                    "the size stays within the limit and the newest entry is kept",
                    "replacing an entry frees the size of the old entry",
                ]
            case .hasOneStorage: ["caches with separate storage share no entries"]
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `a cache with one fault fails exactly the checks of that fault`(fault: Fault) async {
        let failed = await failures(fault)
        #expect(failed == fault.broken)
    }

    @Test func `a cache without a fault fails no check`() async {
        #expect(await failures(nil).isEmpty)
    }

    @Test(arguments: DataCacheConformance.persistenceChecks)
    func `a cache is released before its storage is opened again`(check: DataCacheConformance.Check) async throws {
        let storages = (0..<2).map { _ in FaultyDataCache.Storage(.init()) }
        let previous = Locked(WeakCache(cache: nil))

        try await check { options in
            #expect(previous.withLock { $0.cache == nil })
            let cache = FaultyDataCache(storages[options.storage], sizeLimit: options.byteLimit, nil)
            previous.withLock { $0 = WeakCache(cache: cache) }
            return cache
        }
    }

    @Test func `each check of the kit fails for some fault`() {
        #expect(Set(Fault.allCases.flatMap(\.broken)) == Set(Self.checks.map(\.description)))
    }

    /// Each check has its own storages.
    private func failures(_ fault: Fault?) async -> Set<String> {
        var failed: Set<String> = []
        for check in Self.checks {
            let storages = (0..<2).map { _ in FaultyDataCache.Storage(.init()) }
            failed.formUnion(
                await AlcedoTestingTests.failures(of: [check]) { options in
                    let index = fault == .hasOneStorage ? 0 : options.storage
                    let storage = fault == .forgetsAtTheEnd ? FaultyDataCache.Storage(.init()) : storages[index]
                    return FaultyDataCache(storage, sizeLimit: options.byteLimit, fault)
                })
        }
        return failed
    }
}
