import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// A kit that cannot fail proves nothing, so each of these caches has one fault.
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
                ["what was stored is found, with its notes", "entries survive the cache that stored them"]
            case .findsSomethingInNothing:
                [
                    "what was never stored is not found", "removing everything leaves nothing",
                    "entries of another storage are not seen",
                ]
            case .givesSlices: ["data begins at index nought"]
            case .dropsEmptyEntries: ["no bytes are an entry too"]
            case .keepsWhatItShouldReplace: ["storing again replaces the entry"]
            case .ignoresVariants:
                [
                    "a variant and the original do not stand for one another", "it says what it contains",
                    "removing a resource removes its original and variants, no other's, and says how many",
                ]
            case .makesNamesOfKeys: ["keys may hold anything"]
            case .removesAlways: ["removing removes that entry only, and says whether there was one"]
            case .keepsTheSizeOfAll:
                ["removing everything leaves nothing", "what removes goes on in a cancelled task"]
            case .hasNoLimit, .evictsTheNewest: ["the size stays within the limit, and the newest entry stays"]
            case .storesOversized, .refusesOversizedWrongly, .oversizedEvictsAll:
                ["an entry over the whole limit is an error, and evicts nothing"]
            case .tearsEntries: ["many tasks at once see whole entries only"]
            case .heedsCancellation: ["what removes goes on in a cancelled task"]
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
                    "it says what it contains", "an entry whose time is over is not stored, and what was there goes",
                    "removing a resource removes its original and variants, no other's, and says how many",
                ]
            case .forgetsExpiries:
                ["an entry comes back with its expiry", "entries survive the cache that stored them"]
            case .storesTheExpired: ["an entry whose time is over is not stored, and what was there goes"]
            case .forgetsWhenFlushed:
                [
                    "flushing returns, and loses nothing", "entries survive the cache that stored them",
                    "the size stays within the limit, and the newest entry stays",
                ]
            case .hasOneStorage: ["entries of another storage are not seen"]
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

    @Test func `every check can fail`() {
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
