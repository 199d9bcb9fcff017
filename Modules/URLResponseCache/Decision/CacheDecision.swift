import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// The decision about a request. A pure function of the request, the stored response and the time.
///
/// Source: RFC 9111 section 4.
enum CacheDecision {
    /// Serve the stored response.
    case serve(StoredResponse, ResponseCaching.Source)
    /// Serve the stale stored response and validate it in the background. RFC 5861 section 3.
    case serveAndRevalidate(StoredResponse)
    /// Validate the stored response with the server. Section 4.3.
    case revalidate(StoredResponse, ForwardReason)
    /// The beginning is stored: request the rest. Section 3.3.
    case complete(StoredResponse)
    /// Send the request to the server.
    case fetch(ForwardReason)
    /// Send the request to the server; the cache does not handle it.
    case forward(ForwardReason)
    /// The store has no suitable response, and the request must not go to the server.
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

    /// Returns the decision if it does not depend on the store; nil if a lookup is necessary.
    static func beforeLookup(_ request: HTTPRequest, _ directives: RequestDirectives) -> CacheDecision? {
        let isOffline = directives.isOnlyIfCached || request.cachePolicy == .returnCacheDataDontLoad
        guard directives.method == .get || directives.method == .head else {
            return isOffline ? .unsatisfiable : .forward(.method)
        }
        // Section 4.3.2: only the origin server evaluates these conditions.
        if directives.requiresOrigin { return isOffline ? .unsatisfiable : .forward(.bypass) }
        if isOffline { return nil }
        // HTTP would allow a lookup, but a client that sends `no-store` does not expect a cached response.
        return directives.forbidsStoring && request.cachePolicy == .useProtocolCachePolicy ? .forward(.bypass) : nil
    }

    /// The outcome of the lookup in the trace of a load.
    var outcome: LoadSpan.Outcome {
        switch self {
        case .serve, .serveAndRevalidate: .success
        case .revalidate(_, .request), .fetch(.request), .forward: .miss(.notAllowed)
        case .revalidate: .miss(.expired)
        case .fetch(.varyMiss): .miss(.otherFields)
        case .complete, .fetch(.partial): .miss(.damaged)
        case .fetch, .unsatisfiable: .miss(.notStored)
        }
    }

    private static func decide(
        _ request: HTTPRequest, _ directives: RequestDirectives, _ candidate: StoredCandidate, _ now: Date
    ) -> CacheDecision {
        if let decided = beforeLookup(request, directives) { return decided }
        // The stored response is needed only for the later update of the store.
        if request.cachePolicy.isReload { return .fetch(.request) }
        // Section 4, first three items.
        guard let stored = candidate.response else { return .fetch(candidate.hasVariants ? .varyMiss : .uriMiss) }
        if let decision = missingBytes(stored, request, directives) { return decision }
        switch request.cachePolicy {
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad:
            return .serve(stored, isFresh(stored, at: now) ? .fresh : .stale)
        case .reloadRevalidatingCacheData:
            // RFC 8246 section 2: this is an ordinary reload. A forced reload has a directive or a policy of its own.
            let isReusable =
                stored.terms.conditions.contains(.immutable) && isFresh(stored, at: now)
                && !directives.requestsNewerResponse
            return isReusable ? .serve(stored, .fresh) : .revalidate(stored, .request)
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
            // Sections 5.2.1.1 and 5.2.1.3. They also apply to an immutable response (RFC 8246 section 2.1).
            let isOld = directives.maximumAge.map { age > TimeInterval($0) } ?? false
            let isBrief = directives.minimumFreshness.map { remaining < TimeInterval($0) } ?? false
            return isOld || isBrief ? .revalidate(stored, .request) : .serve(stored, .fresh)
        }
        // Section 4.2.4.
        if Staleness.isAccepted(stored, age: age, by: directives) { return .serve(stored, .stale) }
        if Staleness.allowsWhileRevalidating(stored, age: age, directives) { return .serveAndRevalidate(stored) }
        return .revalidate(stored, .stale)
    }

    /// Returns the decision for a request for bytes that are not all stored; nil if they are. Section 3.3.
    private static func missingBytes(
        _ stored: StoredResponse, _ request: HTTPRequest, _ directives: RequestDirectives
    ) -> CacheDecision? {
        if let range = directives.range {
            // A complete content with a content coding has no byte offsets that the server and the caller agree on.
            guard stored.part != nil || (stored.head.status == 200 && !stored.hasOffsets) else { return nil }
            let isStored =
                PartialContentRules.stored(range, of: stored) != nil && Precondition.allowsRange(of: stored, request)
            return isStored ? nil : .fetch(.partial)
        }
        guard stored.part != nil else { return nil }
        let canComplete = directives.method == .get && !directives.isConditional
        return canComplete && PartialContentRules.isBeginning(stored) ? .complete(stored) : .fetch(.partial)
    }

    private static func isFresh(_ stored: StoredResponse, at now: Date) -> Bool {
        stored.terms.lifetime > stored.age(at: now) && !stored.terms.conditions.contains(.validatesAlways)
    }
}

/// The reason for which a request goes to the network. The raw values are those of `fwd` in RFC 9211 section 2.2.
enum ForwardReason: String {
    /// The cache does not handle the request: only the origin server can evaluate it, or it forbids storing the
    /// response.
    case bypass
    /// The cache only serves the methods GET and HEAD.
    case method
    /// No response is stored for the URL.
    case uriMiss = "uri-miss"
    /// The stored responses are for requests with other field values.
    case varyMiss = "vary-miss"
    /// The stored response requires validation.
    case stale
    /// The requested bytes are not all stored.
    case partial
    /// The directives or the cache policy of the request do not allow the use of a stored response without contacting
    /// the server.
    case request
}
