import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// The writer of a response store. It makes one change at a time for each resource.
struct ResponseWriter: Sendable {
    /// The maximum number of different `Vary` fields that are kept for a resource. Beyond it, the oldest is dropped. A
    /// server usually sends the same one. With credentials, cookies, content codings, accounts and own fields, it
    /// counts up to 32 times.
    private static let nameListLimit = 32
    /// The maximum number of variants whose entity tags are offered to the server when none matches a request. Beyond
    /// it, the oldest is dropped.
    private static let taggedLimit = 16

    let store: any ResponseStoring
    let rules: ResponseCacheRules
    /// The maximum number of bytes of a content combined from parts. A part that would exceed it is stored alone.
    let combinedByteLimit: Int
    let exchanges: ExchangeTracker
    private let lock = ResourceLock()

    let counts: ResponseCounts

    init(
        store: any ResponseStoring, rules: ResponseCacheRules, combinedByteLimit: Int = 32 << 20,
        exchanges: ExchangeTracker, counts: ResponseCounts
    ) {
        self.store = store
        self.exchanges = exchanges
        self.counts = counts
        self.rules = rules
        self.combinedByteLimit = combinedByteLimit
    }

    /// Stores the response to a request, unless the resource has changed since the exchange began or a later response
    /// is stored. A part is combined with the stored part. Returns whether the response was passed to the store.
    ///
    /// The parameter `old` is the key of the stored response that this one replaces; nil for none. If it is not nil,
    /// the other stored responses for the request with the same strong entity tag are removed. If the new key differs
    /// from `old`, the entry under `old` is also removed.
    @discardableResult
    func store(
        _ response: StoredResponse, for request: HTTPRequest, of exchange: ExchangeTracker.Exchange,
        inPlaceOf old: ImageKey? = nil
    ) async -> Bool {
        guard let names = Vary.names(of: response.head, to: request, role: rules.role) else { return false }
        let own = ImageKey(exchange.resource)
        let variant = ImageKey(own.resource, variant: Vary.variant(names, of: request))
        var isStored = false
        await lock.withLock(on: own.resource) {
            let isLatest = exchange.acquire(own)
            // If the resource's responses have varied, a response without `Vary` is stored as a variant for all
            // requests. The other variants stay available for the time when responses vary again.
            let before = await store.entry(for: own)
            let key = if names.isEmpty, before?.isVariants != true { own } else { variant }
            guard key == own ? isLatest : exchange.acquire(key) else { return }
            // The stored response is later, and applies to all requests.
            if key != own, !isLatest, before?.isVariants == false { return }
            var response = response
            if response.part != nil {
                guard let combined = await combined(response, with: key, for: request) else { return }
                response = combined
            }
            if key != own { await recordVariant(names, key, response, isLatest: isLatest, in: before, under: own) }
            await store.store(.response(response), for: key)
            // A removal after the check has not found the response.
            guard exchange.isCurrent else { return await store.remove(key) }
            if let old {
                if old != key, old != own { await store.remove(old) }
                await removeCopies(of: response, for: request, in: before, but: key)
            }
            isStored = true
            counts.recordStore()
        }
        return isStored
    }

    /// Removes the response that was found for a request, and its copies, unless a later response is stored.
    func remove(
        _ candidate: StoredCandidate, for request: HTTPRequest, of exchange: ExchangeTracker.Exchange
    ) async {
        await lock.withLock(on: candidate.key.resource) {
            guard exchange.acquire(candidate.key) else { return }
            await store.remove(candidate.key)
            guard let response = candidate.response else { return }
            let rest = await store.entry(for: ImageKey(candidate.key.resource))
            await removeCopies(of: response, for: request, in: rest, but: candidate.key)
        }
    }

    /// Removes all stored responses of the resource, and prevents storing those in flight. RFC 9111 section 4.4.
    func invalidate(_ resource: ResourceKey) async {
        // The generation changes before the lock is acquired, so that a response which waits for the lock is not
        // stored.
        exchanges.invalidate(resource)
        await lock.withLock(on: resource) { await store.removeAll(of: resource) }
    }

    /// Returns the part, combined with the stored part if possible. Returns nil if the complete content is stored
    /// already.
    private func combined(
        _ part: StoredResponse, with key: ImageKey, for request: HTTPRequest
    ) async -> StoredResponse? {
        guard case .response(let stored) = await store.entry(for: key), !stored.isExpired(at: part.responseTime) else {
            return PartialContentRules.completed(part)
        }
        if stored.part == nil, PartialContentRules.isSameContent(part.head, stored) { return nil }
        return PartialContentRules.combined(stored, with: part, for: request, rules, limit: combinedByteLimit)
            ?? PartialContentRules.completed(part)
    }

    /// Removes the other stored responses for the request with the same strong entity tag, because an update of one
    /// applies to all of them. A date does not distinguish variants. RFC 9111 section 4.3.4.
    private func removeCopies(
        of response: StoredResponse, for request: HTTPRequest, in before: ResponseEntry?, but key: ImageKey
    ) async {
        guard case .variants(let variants) = before else { return }
        for names in variants.nameLists {
            let other = ImageKey(key.resource, variant: Vary.variant(names, of: request))
            guard other != key, case .response(let found) = await store.entry(for: other),
                PartialContentRules.hasSameTag(response.head, found)
            else { continue }
            await store.remove(other)
        }
    }

    private func recordVariant(
        _ names: [String], _ key: ImageKey, _ response: StoredResponse, isLatest: Bool, in before: ResponseEntry?,
        under own: ImageKey
    ) async {
        var variants = ResponseVariants()
        if case .variants(let known) = before { variants = known }
        let known = variants
        if isLatest || !variants.nameLists.contains(names) {
            variants.nameLists.removeAll { $0 == names }
            variants.nameLists.insert(names, at: isLatest ? 0 : variants.nameLists.count)
            variants.nameLists.removeLast(max(0, variants.nameLists.count - Self.nameListLimit))
        }
        // A server may give the images of two users one tag, and would then confirm the image of the other one. A weak
        // tag may also name the forms of an image in several formats (RFC 9110 section 8.8.1).
        if let tag = response.entityTag, !tag.isWeak, names.allSatisfy(FieldNormalization.isPreference) {
            variants.tagged.removeAll { $0.variant == key.variant }
            variants.tagged.insert(ResponseVariants.Tagged(variant: key.variant, entityTag: tag.text), at: 0)
            variants.tagged.removeLast(max(0, variants.tagged.count - Self.taggedLimit))
        }
        if variants != known { await store.store(.variants(variants), for: own) }
    }
}

extension ResponseEntry {
    fileprivate var isVariants: Bool { if case .variants = self { true } else { false } }
}

/// The counters of a response cache.
final class ResponseCounts: Sendable {
    private let counts = Locked(CacheStatistics())

    var value: CacheStatistics { counts.withLock { $0 } }

    func recordLookup(isHit: Bool) {
        counts.withLock { counts in
            if isHit { counts.hits += 1 } else { counts.misses += 1 }
        }
    }

    func recordStore() { counts.withLock { $0.stores += 1 } }
}

/// A lock for each resource, so that only one task at a time changes its entries and none works with an outdated entry.
final class ResourceLock: Sendable {
    /// The locked resources, with the waiters of each in order. The first element of a slice is removed in constant
    /// time, also if thousands of variants wait to be stored.
    private let waiting = Locked<[ResourceKey: ArraySlice<CheckedContinuation<Void, Never>>]>([:])

    /// Runs `work` while no other work for this resource runs. Waits even in a canceled task, because each work is
    /// short.
    func withLock(on resource: ResourceKey, _ work: () async -> Void) async {
        await enter(resource)
        await work()
        leave(resource)
    }

    private func enter(_ resource: ResourceKey) async {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                guard waiting[resource] != nil else {
                    waiting[resource] = []
                    return true
                }
                waiting[resource]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave(_ resource: ResourceKey) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            guard waiting[resource]?.isEmpty == false else {
                waiting[resource] = nil
                return nil
            }
            return waiting[resource]?.popFirst()
        }
        next?.resume()
    }
}
