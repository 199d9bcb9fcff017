import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// The stored responses of a resource, as far as one request can use them.
struct StoredCandidate: Sendable {
    /// The most recent stored response that matches the request.
    var response: StoredResponse?
    /// The key of the response, or of the resource if no response matches.
    var key: ImageKey
    /// The entity tags of the resource's stored variants that vary only by preferences, the newest first.
    var otherTags: [ResponseVariants.Tagged] = []
    /// Whether variants of the resource are recorded in the store.
    var hasVariants = false
}

extension ResponseStoring {
    /// Returns the most recent stored response that matches a request. RFC 9111 section 4.1.
    ///
    /// A response whose time to live has passed is removed. Cost: one lookup for a resource whose responses do not
    /// vary, otherwise one more for each different `Vary` field.
    func candidate(for request: HTTPRequest, role: CacheRole, now: Date) async -> StoredCandidate {
        let own = ImageKey(request.resourceKey)
        switch await entry(for: own) {
        case .response(let response):
            guard await isUnexpired(response, under: own, now: now), response.isUsable(in: role),
                !Vary.isForOthers(response, of: request, role: role)
            else {
                return StoredCandidate(key: own)
            }
            return StoredCandidate(response: response, key: own)
        case .variants(let variants):
            var candidate = StoredCandidate(key: own, otherTags: variants.tagged, hasVariants: true)
            for names in variants.nameLists {
                let fields = Vary.fields(names, of: request)
                let key = ImageKey(own.resource, variant: Vary.variant(names, fields))
                guard case .response(let found) = await entry(for: key),
                    await isUnexpired(found, under: key, now: now), found.isUsable(in: role),
                    found.varyingFields == fields, !Vary.isForOthers(found, of: request, role: role)
                else { continue }
                // Section 4, last paragraph but one: the most recent response is selected.
                if let best = candidate.response, best.terms.date >= found.terms.date { continue }
                (candidate.response, candidate.key) = (found, key)
            }
            return candidate
        case nil: return StoredCandidate(key: own)
        }
    }

    /// Returns whether the response's time to live has not passed, and removes the response if it has. A newer response
    /// stored at the same time may also be removed, which causes a miss.
    private func isUnexpired(_ response: StoredResponse, under key: ImageKey, now: Date) async -> Bool {
        guard response.isExpired(at: now) else { return true }
        await remove(key)
        return false
    }
}

extension StoredResponse {
    /// Whether the response may be used by a cache of this role. Its freshness was calculated for the role of the cache
    /// that stored it.
    fileprivate func isUsable(in role: CacheRole) -> Bool {
        terms.conditions.contains(.shared) == role.isShared && storagePolicy != .notAllowed
    }
}
