import AlcedoCore
import FoundationEssentials

/// When a stale answer may be used. Source: RFC 9111 section 4.2.4, RFC 5861.
enum Staleness {
    /// What is wrong with the server.
    enum Trouble {
        /// It was not reached, or did not answer.
        case disconnected
        /// It answered that it cannot (500, 502, 503, 504).
        case error
    }

    /// Whether the answer may be used while a newer one is fetched.
    static func allowsMeanwhile(_ stored: StoredResponse, age: TimeInterval, _ request: RequestDirectives) -> Bool {
        !request.isDemanding && isBendable(stored)
            && age - stored.terms.lifetime <= stored.terms.staleWhileRevalidate
            && stored.terms.staleWhileRevalidate > 0
    }

    /// Whether the request is content with an answer that has been stale for so long. Section 5.2.1.2.
    static func isWanted(_ stored: StoredResponse, age: TimeInterval, by request: RequestDirectives) -> Bool {
        // Who wants it to stay fresh for a while (section 5.2.1.3) does not want it stale.
        guard let limit = request.maximumStaleness, !request.demandsValidation, request.minimumFreshness == nil,
            isBendable(stored)
        else { return false }
        if let oldest = request.maximumAge, age > TimeInterval(oldest) { return false }
        return age - stored.terms.lifetime <= TimeInterval(limit)
    }

    /// Whether the answer may stand in for one that the server fails to give.
    static func allows(
        _ stored: StoredResponse, at now: Date, despite trouble: Trouble, _ request: RequestDirectives,
        _ rules: ResponseCacheRules
    ) -> Bool {
        guard isBendable(stored) else { return false }
        let staleness = stored.age(at: now) - stored.terms.lifetime
        if request.staleIfError > 0, staleness <= TimeInterval(request.staleIfError) { return true }
        guard !request.isDemanding else { return false }
        if stored.terms.staleIfError > 0, staleness <= stored.terms.staleIfError { return true }
        return trouble == .disconnected && rules.servesStaleWhenDisconnected
    }

    private static func isBendable(_ stored: StoredResponse) -> Bool {
        stored.terms.conditions.isDisjoint(with: [.validatesAlways, .neverStale])
    }
}
