import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// What to do with a request. A pure function of the request, what is stored for it, and the time.
///
/// Source: RFC 9111 section 4.
enum CacheDecision {
    /// The stored answer is the answer.
    case serve(StoredResponse, ResponseCaching.Source)
    /// The stored answer is the answer, and a newer one is fetched behind it. RFC 5861 section 3.
    case serveAndRevalidate(StoredResponse)
    /// The stored answer may be; ask the server. Section 4.3.
    case revalidate(StoredResponse, ForwardReason)
    /// The beginning is stored; ask for the rest. Section 3.3.
    case complete(StoredResponse)
    /// Ask the server.
    case fetch(ForwardReason)
    /// Ask the server, and have no part in it.
    case forward(ForwardReason)
    /// Neither the store nor, by the request's own wish, the server can answer.
    case unsatisfiable

    init(
        for request: HTTPRequest, _ directives: RequestDirectives, stored candidate: StoredCandidate, now: Date
    ) {
        let decision = Self.decide(request, directives, candidate, now)
        // Section 5.2.1.7.
        let isOffline = directives.isOnlyIfCached || request.cachePolicy == .returnCacheDataDontLoad
        switch decision {
        case .serveAndRevalidate(let stored) where isOffline: self = .serve(stored, .stale)
        case .serve, .serveAndRevalidate: self = decision
        default: self = isOffline ? .unsatisfiable : decision
        }
    }

    /// What is decided without a look at the store; nil when the store has to be asked.
    static func beforeLookup(_ request: HTTPRequest, _ directives: RequestDirectives) -> CacheDecision? {
        let isOffline = directives.isOnlyIfCached || request.cachePolicy == .returnCacheDataDontLoad
        guard directives.method == .get || directives.method == .head else {
            return isOffline ? .unsatisfiable : .forward(.method)
        }
        // Section 4.3.2: only the origin judges such conditions.
        if directives.requiresOrigin { return isOffline ? .unsatisfiable : .forward(.bypass) }
        if isOffline { return nil }
        // HTTP would allow a look; who says this wants nothing of a cache.
        return directives.forbidsStoring && request.cachePolicy == .useProtocolCachePolicy ? .forward(.bypass) : nil
    }

    private static func decide(
        _ request: HTTPRequest, _ directives: RequestDirectives, _ candidate: StoredCandidate, _ now: Date
    ) -> CacheDecision {
        if let decided = beforeLookup(request, directives) { return decided }
        // The look was for the update.
        if request.cachePolicy.isReload { return .fetch(.request) }
        // Section 4, first three items.
        guard let stored = candidate.response else { return .fetch(candidate.hasVariants ? .varyMiss : .uriMiss) }
        if let lack = missingBytes(stored, request, directives) { return lack }
        switch request.cachePolicy {
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad:
            return .serve(stored, isFresh(stored, at: now) ? .fresh : .stale)
        case .reloadRevalidatingCacheData:
            // RFC 8246 section 2: an ordinary reload; one that is forced has a directive or a policy of its own.
            let isSettled =
                stored.terms.conditions.contains(.immutable) && isFresh(stored, at: now)
                && !directives.requestsNewerResponse
            return isSettled ? .serve(stored, .fresh) : .revalidate(stored, .request)
        default: return decideByProtocol(stored, directives, now)
        }
    }

    /// The fourth item of section 4.
    private static func decideByProtocol(
        _ stored: StoredResponse, _ directives: RequestDirectives, _ now: Date
    ) -> CacheDecision {
        // Sections 5.2.1.4 and 5.2.2.4.
        if directives.requiresValidation { return .revalidate(stored, .request) }
        if stored.terms.conditions.contains(.validatesAlways) { return .revalidate(stored, .stale) }
        let age = stored.age(at: now)
        let remaining = stored.terms.lifetime - age
        if remaining > 0 {
            // Sections 5.2.1.1 and 5.2.1.3. They hold for an immutable response, too (RFC 8246 section 2.1).
            let isOld = directives.maximumAge.map { age > TimeInterval($0) } ?? false
            let isBrief = directives.minimumFreshness.map { remaining < TimeInterval($0) } ?? false
            return isOld || isBrief ? .revalidate(stored, .request) : .serve(stored, .fresh)
        }
        // Section 4.2.4.
        if Staleness.isAccepted(stored, age: age, by: directives) { return .serve(stored, .stale) }
        if Staleness.allowsWhileRevalidating(stored, age: age, directives) { return .serveAndRevalidate(stored) }
        return .revalidate(stored, .stale)
    }

    /// What to do when the request asks for bytes that are not stored. Section 3.3.
    private static func missingBytes(
        _ stored: StoredResponse, _ request: HTTPRequest, _ directives: RequestDirectives
    ) -> CacheDecision? {
        if let range = directives.range {
            // A whole content in another coding has no offsets that the server and the caller would agree on.
            guard stored.part != nil || (stored.head.status == 200 && !stored.hasOffsets) else { return nil }
            let isThere =
                PartialContent.stored(range, of: stored) != nil && Precondition.allowsRange(of: stored, request)
            return isThere ? nil : .fetch(.partial)
        }
        guard stored.part != nil else { return nil }
        let isAskable = directives.method == .get && !directives.isConditional
        return isAskable && PartialContent.isBeginning(stored) ? .complete(stored) : .fetch(.partial)
    }

    private static func isFresh(_ stored: StoredResponse, at now: Date) -> Bool {
        stored.terms.lifetime > stored.age(at: now) && !stored.terms.conditions.contains(.validatesAlways)
    }
}

extension HTTPCachePolicy {
    /// Whether nothing that is stored may be the answer, or be asked about.
    fileprivate var isReload: Bool {
        self == .reloadIgnoringLocalCacheData || self == .reloadIgnoringLocalAndRemoteCacheData
    }
}

/// Why a request goes to the network. The raw values are those of `fwd` in RFC 9211 section 2.2.
enum ForwardReason: String {
    /// The cache does not deal with such requests.
    case bypass
    /// The method is not one that the cache answers.
    case method
    /// Nothing is stored for the URL.
    case uriMiss = "uri-miss"
    /// What is stored is for requests with other fields.
    case varyMiss = "vary-miss"
    /// What is stored may only be used after asking.
    case stale
    /// Not all of what is asked for is stored.
    case partial
    /// The request wants something newer than what is stored.
    case request
}
