import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// What is stored for a resource, as far as one request can use it.
struct StoredCandidate: Sendable {
    /// The newest answer that was stored for such a request.
    var response: StoredResponse?
    /// Where it is, when it is there.
    var key: ImageKey
    /// Tags of answers to other requests for the resource, the newest first.
    var otherTags: [ResponseVariants.Tagged] = []
    /// Whether something is stored for other requests.
    var hasVariants = false
}

extension ResponseStoring {
    /// Finds what is stored for a request: the newest answer that was made for such a one. RFC 9111 section 4.1.
    ///
    /// A response whose time to live has passed is removed. Cost: one look-up for a resource whose answers do not vary,
    /// else one more for each different `Vary` field.
    func candidate(for request: HTTPRequest, role: CacheRole, now: Date) async -> StoredCandidate {
        let own = ImageKey(request.resourceKey)
        switch await entry(for: own) {
        case .response(let response):
            guard await isUnexpired(response, under: own, now: now), response.isUsable(in: role) else {
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
                    found.varyingFields == fields
                else { continue }
                // Section 4, last but one paragraph: the most recent one.
                if let best = candidate.response, best.terms.date >= found.terms.date { continue }
                (candidate.response, candidate.key) = (found, key)
            }
            return candidate
        case nil: return StoredCandidate(key: own)
        }
    }

    /// Returns whether the response's time to live lasts, and removes it if not. A newer response that takes its place
    /// meanwhile may go with it, which is a miss.
    private func isUnexpired(_ response: StoredResponse, under key: ImageKey, now: Date) async -> Bool {
        guard response.isExpired(at: now) else { return true }
        await remove(key)
        return false
    }
}

extension StoredResponse {
    /// What a cache for one user stored is not for many, and the other way round: the terms were read for the other.
    fileprivate func isUsable(in role: CacheRole) -> Bool {
        terms.conditions.contains(.shared) == role.isShared && storagePolicy != .notAllowed
    }
}
