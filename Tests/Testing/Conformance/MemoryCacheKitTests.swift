import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

/// A kit that cannot fail proves nothing, so each of these caches has one fault.
@Suite(.timeLimit(.minutes(10)))
struct MemoryCacheKitTests {
    enum Fault: CaseIterable {
        case confusesKeysOfOneLength, ignoresVariants, keepsWhatItShouldReplace, countsReplacedImages
        case hasALimitOfItsOwn, oversizedEvictsAll, storesOversized, oversizedLeavesTheOld, storesWithoutRoom
        case removesAlways, removesTooMuch, removesByPrefix, forgetsVariants, keepsTheCostOfAll, ignoresTrims
        case containsAlways, keepsReplacedCosts, keepsImagesOfRequests

        /// The checks that must fail.
        var broken: Set<String> {
            switch self {
            case .confusesKeysOfOneLength:
                [
                    "a stored image is returned, and only under its key", "contains returns whether a key has an entry",
                    "an image above the limit is not stored and evicts no other image",
                    "remove removes only its image and returns whether it existed",
                    "removing a resource removes all its variants and no other resource",
                    "concurrent tasks keep the total cost correct",
                ]
            case .ignoresVariants:
                [
                    "a variant and the original are separate entries",
                    "removing a resource removes all its variants and no other resource",
                ]
            case .keepsWhatItShouldReplace:
                [
                    "storing under an existing key replaces the image and its cost",
                    "an image stored for a request replaces the image under its key, or removes it",
                ]
            case .keepsReplacedCosts: ["replacing an image frees the cost of the old image"]
            case .keepsImagesOfRequests:
                ["an image stored for a request replaces the image under its key, or removes it"]
            case .countsReplacedImages:
                [
                    "storing under an existing key replaces the image and its cost",
                    "concurrent tasks keep the total cost correct",
                ]
            case .hasALimitOfItsOwn: ["the total cost never exceeds the limit"]
            case .oversizedEvictsAll: ["an image above the limit is not stored and evicts no other image"]
            case .storesOversized:
                [
                    "an image above the limit is not stored and evicts no other image",
                    "an image above the limit removes the image under its key",
                ]
            case .oversizedLeavesTheOld: ["an image above the limit removes the image under its key"]
            case .storesWithoutRoom: ["a cache with a limit of zero stores nothing"]
            case .removesAlways: ["remove removes only its image and returns whether it existed"]
            case .removesTooMuch: ["remove removes only its image and returns whether it existed"]
            case .removesByPrefix, .forgetsVariants:
                ["removing a resource removes all its variants and no other resource"]
            case .containsAlways: ["contains returns whether a key has an entry"]
            case .keepsTheCostOfAll: ["removeAll removes all entries"]
            case .ignoresTrims: ["trimming reaches the requested cost"]
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `a cache with one fault fails exactly the checks of that fault`(fault: Fault) async {
        let failed = await failures(of: MemoryCacheConformance.checks) { Cache($0.byteLimit, fault) }
        // Whether concurrent tasks use these keys at the same time is random.
        let chancy: Set = fault == .confusesKeysOfOneLength ? ["concurrent tasks keep the total cost correct"] : []
        #expect(failed.subtracting(chancy) == fault.broken.subtracting(chancy))
    }

    @Test func `a cache without a fault fails no check`() async {
        let failed = await failures(of: MemoryCacheConformance.checks) { Cache($0.byteLimit, nil) }
        #expect(failed.isEmpty)
    }

    @Test func `each check of the kit fails for some fault`() {
        let covered = Set(Fault.allCases.flatMap(\.broken))
        #expect(covered == Set(MemoryCacheConformance.checks.map(\.description)))
    }

    /// A reference implementation of the contract, and its faults.
    private final class Cache: MaintainableMemoryCache {
        private struct State: Sendable {
            var images: [(key: ImageKey, image: DecodedImage)] = []
            var extraCost = 0
            /// A part of the cost that counts for the limit only.
            var hiddenCost = 0

            var cost: Int { images.reduce(0) { $0 + $1.image.cost } }

            mutating func remove(_ key: ImageKey) -> Bool {
                let before = images.count
                images.removeAll { $0.key == key }
                return images.count < before
            }
        }

        private let state = Watched(State())
        private let costLimit: Int
        private let fault: Fault?

        init(_ costLimit: Int, _ fault: Fault?) {
            let isTolerant = fault == .hasALimitOfItsOwn && costLimit > 0
            self.costLimit = isTolerant ? max(costLimit, 5 * DecodedImage.gray(side: 1).cost) : costLimit
            self.fault = fault
        }

        private func known(_ key: ImageKey) -> ImageKey {
            switch fault {
            case .ignoresVariants: key.original
            case .confusesKeysOfOneLength:
                ImageKey(ResourceKey("\(key.resource.description.count)"), variant: key.variant)
            default: key
            }
        }

        func image(for key: ImageKey) -> DecodedImage? {
            let key = known(key)
            return state.value.images.first { $0.key == key }?.image
        }

        func contains(_ key: ImageKey) -> Bool {
            let key = known(key)
            return fault == .containsAlways || state.value.images.contains { $0.key == key }
        }

        func store(_ image: DecodedImage, for key: ImageKey) {
            let key = known(key)
            let (limit, fault) = (costLimit, fault)
            state.update { state in
                let isThere = state.images.contains { $0.key == key }
                if fault == .keepsWhatItShouldReplace, isThere, image.cost <= limit { return }
                let isOversized = image.cost > limit || limit <= 0
                let isStoredAnyway =
                    (fault == .storesOversized && limit > 0) || (fault == .storesWithoutRoom && limit == 0)
                if isOversized, !isStoredAnyway {
                    if fault == .oversizedEvictsAll { state.images = [] }
                    if fault != .oversizedLeavesTheOld { _ = state.remove(key) }
                    return
                }
                if isThere, fault == .countsReplacedImages { state.extraCost += image.cost }
                if isThere, fault == .keepsReplacedCosts { state.hiddenCost += image.cost }
                _ = state.remove(key)
                state.images.append((key, image))
                while !isOversized, state.cost + state.hiddenCost > limit, !state.images.isEmpty {
                    state.images.removeFirst()
                }
            }
        }

        func store(_ image: DecodedImage, for request: ImageRequest) {
            if fault == .keepsImagesOfRequests, contains(request.key) { return }
            store(image, for: request.key)
        }

        func remove(_ key: ImageKey) -> Bool {
            let key = known(key)
            let fault = fault
            return state.update { state in
                let removed = state.remove(key)
                if fault == .removesTooMuch, removed, state.images.count == 1 { state.images = [] }
                return removed || fault == .removesAlways
            }
        }

        func removeAll(of resource: ResourceKey) -> Int {
            let fault = fault
            let name = resource.description
            return state.update { state in
                let before = state.images.count
                state.images.removeAll { entry in
                    switch fault {
                    case .removesByPrefix: entry.key.resource.description.hasPrefix(name)
                    case .forgetsVariants: entry.key == ImageKey(resource)
                    default: entry.key.resource == resource
                    }
                }
                return before - state.images.count
            }
        }

        func removeAll() {
            let fault = fault
            state.update { state in
                if fault == .keepsTheCostOfAll { state.extraCost += state.cost }
                state.images = []
            }
        }

        func trim(toCost cost: Int) {
            guard fault != .ignoresTrims else { return }
            state.update { state in while state.cost > cost, !state.images.isEmpty { state.images.removeFirst() } }
        }

        var totalCost: Int {
            let state = state.value
            return state.cost + state.extraCost
        }
    }
}
