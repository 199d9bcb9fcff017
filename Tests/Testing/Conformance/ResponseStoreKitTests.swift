import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// A kit that cannot fail proves nothing, so each of these stores has one fault.
@Suite(.timeLimit(.minutes(10)))
struct ResponseStoreKitTests {
    enum Fault: CaseIterable {
        case losesMetadata, ignoresVariants, keepsTheOld, storesForbiddenEntries, ignoresItsLimit, removesTheResource
        case forgetsVariants, keepsTheDateItself, keepsVariants, mixesBodies, keepsReplacedSizes

        /// The check that must fail.
        var broken: String {
            switch self {
            case .losesMetadata: "a stored entry is returned unchanged, and only under its key"
            case .ignoresVariants: "a variant and the entry of the resource are separate"
            case .keepsTheOld: "storing under an existing key replaces the entry"
            case .storesForbiddenEntries: "storing an entry that must not be stored removes the entry under its key"
            case .ignoresItsLimit: "storing an entry above the limit removes the entry under its key"
            case .removesTheResource: "remove removes only its entry"
            case .forgetsVariants: "removing a resource removes all its variants and no other resource"
            case .keepsTheDateItself: "removing since a date removes all responses received at or after it"
            case .keepsVariants: "removeAll removes all entries"
            case .mixesBodies: "concurrent tasks find only complete entries"
            case .keepsReplacedSizes: "replacing an entry frees the size of the old entry"
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `a store with one fault fails exactly the check of that fault`(fault: Fault) async {
        let failed = await failures(of: ResponseStoreConformance.checks) { Store($0.byteLimit, fault) }
        #expect(failed == [fault.broken])
    }

    @Test func `a store without a fault fails no check`() async {
        #expect(await failures(of: ResponseStoreConformance.checks) { Store($0.byteLimit, nil) }.isEmpty)
    }

    @Test func `each check of the kit fails for some fault`() {
        #expect(Set(Fault.allCases.map(\.broken)) == Set(ResponseStoreConformance.checks.map(\.description)))
    }

    /// A reference implementation of the contract, and its faults.
    private final class Store: ResponseStoring {
        private let entries = Watched<[ImageKey: ResponseEntry]>([:])
        private let replacedSize = Watched(0)
        private let byteLimit: Int
        private let fault: Fault?

        init(_ byteLimit: Int, _ fault: Fault?) { (self.byteLimit, self.fault) = (byteLimit, fault) }

        func entry(for key: ImageKey) -> ResponseEntry? {
            entries.value[key]
                ?? (fault == .ignoresVariants ? entries.value.first { isVariant($0.key, of: key) }?.value : nil)
        }

        private func isVariant(_ other: ImageKey, of key: ImageKey) -> Bool {
            other.resource == key.resource && key.variant.isEmpty && entries.value.count == 1
        }

        func store(_ entry: ResponseEntry, for key: ImageKey) {
            let (byteLimit, fault) = (byteLimit, fault)
            entries.update { entries in
                guard case .response(var response) = entry else {
                    entries[key] = entry
                    return
                }
                let isAllowed = response.storagePolicy != .notAllowed || fault == .storesForbiddenEntries
                guard isAllowed, response.body.count <= byteLimit || fault == .ignoresItsLimit else {
                    entries[key] = nil
                    return
                }
                if fault == .keepsTheOld, case .response(let old) = entries[key],
                    old.body.starts(with: Data("old".utf8))
                {
                    return
                }
                // Only an entry larger than the smallest body shows it.
                if fault == .mixesBodies, response.body.count == 100, case .response(let old) = entries[key] {
                    response.body = old.body.prefix(50) + response.body.suffix(50)
                }
                if fault == .losesMetadata, key.resource.description.hasSuffix("/a"), entries.isEmpty,
                    key.variant.isEmpty, response.body == Data("a".utf8), response.userInfo["note"] == "a"
                {
                    response.head.status = 203
                }
                if fault == .keepsReplacedSizes, case .response(let old) = entries[key] {
                    let size = replacedSize.update { size in
                        size += old.body.count
                        return size
                    }
                    if size > byteLimit { entries = [:] }
                }
                entries[key] = .response(response)
            }
        }

        func remove(_ key: ImageKey) {
            entries.update { $0[key] = nil }
            if fault == .removesTheResource { entries.update { $0 = [:] } }
        }

        func removeAll(of resource: ResourceKey) {
            let fault = fault
            entries.update { entries in
                entries = entries.filter { entry in
                    if entry.key.resource != resource { return true }
                    return fault == .forgetsVariants && !entry.key.variant.isEmpty
                }
            }
        }

        func removeAll(storedSince date: Date) {
            let fault = fault
            entries.update { entries in
                entries = entries.filter { entry in
                    guard case .response(let response) = entry.value else { return true }
                    return fault == .keepsTheDateItself ? response.responseTime <= date : response.responseTime < date
                }
            }
        }

        func removeAll() {
            let fault = fault
            entries.update { entries in
                entries = fault == .keepsVariants ? entries.filter { !$0.key.variant.isEmpty } : [:]
            }
        }
    }
}
