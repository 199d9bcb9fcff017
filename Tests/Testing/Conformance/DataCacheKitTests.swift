import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// A kit that cannot fail proves nothing: each of these caches is broken in one way.
@Suite(.timeLimit(.minutes(10)))
struct DataCacheKitTests {
    private static let checks = DataCacheConformance.checks + DataCacheConformance.persistenceChecks

    enum Fault: CaseIterable {
        case losesNotes, findsSomethingInNothing, givesSlices, dropsEmptyEntries, keepsWhatItShouldReplace
        case ignoresVariants, makesNamesOfKeys, removesAlways, keepsTheSizeOfAll, hasNoLimit, evictsTheNewest
        case storesOversized, refusesOversizedWrongly, oversizedEvictsAll, tearsEntries, heedsCancellation
        case forgetsAtTheEnd, hasOneStorage, removesLikeResources, countsNothing, containsAlways, forgetsExpiries
        case storesTheExpired, forgetsWhenFlushed

        var broken: Set<String> {
            switch self {
            case .losesNotes:
                ["a stored entry is found, with its metadata", "entries survive the cache that stored them"]
            case .findsSomethingInNothing:
                [
                    "a missing entry is not found", "removing everything leaves nothing",
                    "entries of another storage are not found",
                ]
            case .givesSlices: ["data begins at index zero"]
            case .dropsEmptyEntries: ["an entry may be empty"]
            case .keepsWhatItShouldReplace: ["storing again replaces the entry"]
            case .ignoresVariants:
                [
                    "a variant and the original are separate entries", "it reports the entries that it contains",
                    "removing a resource removes its original and variants, no other's, and says how many",
                ]
            case .makesNamesOfKeys: ["keys may have any content"]
            case .removesAlways: ["removing removes that entry only, and says whether there was one"]
            case .keepsTheSizeOfAll:
                ["removing everything leaves nothing", "removals complete in a cancelled task"]
            case .hasNoLimit, .evictsTheNewest: ["the size stays within the limit, and the newest entry stays"]
            case .storesOversized, .refusesOversizedWrongly, .oversizedEvictsAll:
                ["an entry over the whole limit is an error, and evicts nothing"]
            case .tearsEntries: ["concurrent tasks find complete entries only"]
            case .heedsCancellation: ["removals complete in a cancelled task"]
            case .forgetsAtTheEnd: ["entries survive the cache that stored them"]
            case .removesLikeResources:
                ["removing a resource removes its original and variants, no other's, and says how many"]
            case .countsNothing:
                [
                    "entries are counted", "the size stays within the limit, and the newest entry stays",
                    "removing a resource removes its original and variants, no other's, and says how many",
                ]
            case .containsAlways:
                [
                    "it reports the entries that it contains",
                    "an expired entry is not stored, and removes the entry under its key",
                    "removing a resource removes its original and variants, no other's, and says how many",
                ]
            case .forgetsExpiries:
                ["an entry is found with its expiry", "entries survive the cache that stored them"]
            case .storesTheExpired: ["an expired entry is not stored, and removes the entry under its key"]
            case .forgetsWhenFlushed:
                [
                    "flushing returns and loses no entry", "entries survive the cache that stored them",
                    "the size stays within the limit, and the newest entry stays",
                ]
            case .hasOneStorage: ["entries of another storage are not found"]
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `a cache that is broken in one way fails the checks of that`(fault: Fault) async {
        let failed = await failures(fault)
        #expect(failed == fault.broken)
    }

    @Test func `a cache that is not broken fails none`() async {
        #expect(await failures(nil).isEmpty)
    }

    @Test func `every check can fail`() {
        #expect(Set(Fault.allCases.flatMap(\.broken)) == Set(Self.checks.map(\.description)))
    }

    /// Each check gets storages of its own.
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
