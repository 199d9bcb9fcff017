import AlcedoCore
import FoundationEssentials

/// What to do with a request. A pure function of the request, what is stored for its URL, and the time.
///
/// Source: RFC 9111 section 4. A stale answer is never served, whatever the request allows.
enum CacheDecision {
    /// The stored answer is the answer.
    case serve(StoredResponse, Freshness)
    /// The stored answer may be; ask the server under this condition.
    case revalidate(StoredResponse, condition: HTTPFields, ForwardReason)
    /// Ask the server.
    case fetch(ForwardReason)
    /// Neither the store nor, by the request's own wish, the server can answer: 504.
    case unsatisfiable

    init(for request: HTTPRequest, stored: [StoredResponse], now: Date) {
        let rules = RequestRules(request)
        self = Self.decide(request, rules, Variants(stored), now)
        if rules.isOnlyIfCached {
            if case .serve = self { return }
            self = .unsatisfiable
        }
    }

    private static func decide(
        _ request: HTTPRequest, _ rules: RequestRules, _ variants: Variants, _ now: Date
    ) -> CacheDecision {
        if let bypass = rules.bypass { return .fetch(bypass) }
        guard let stored = variants.selected(for: request) else {
            return .fetch(variants.responses.isEmpty ? .uriMiss : .varyMiss)
        }
        let freshness = Freshness(of: stored, now: now)
        guard let reason = objection(to: stored, freshness, rules) else { return .serve(stored, freshness) }
        let condition = Validation.condition(for: stored.head, receivedAt: stored.responseTime)
        return condition.fields.isEmpty ? .fetch(reason) : .revalidate(stored, condition: condition, reason)
    }

    /// Why the stored answer must not be served as it is.
    private static func objection(
        to stored: StoredResponse, _ freshness: Freshness, _ rules: RequestRules
    ) -> ForwardReason? {
        guard freshness.isFresh, !StorageRules.demandsValidation(stored.head.fields) else { return .stale }
        if rules.demandsValidation { return .request }
        if let minimum = rules.minimumFreshness, freshness.lifetime - freshness.age < TimeInterval(minimum) {
            return .request
        }
        // What never changes while it is fresh need not be asked for again by a reload (RFC 8246).
        guard let maximum = rules.maximumAge, !CacheControl(stored.head.fields).contains("immutable") else {
            return nil
        }
        return maximum == 0 || freshness.age > TimeInterval(maximum) ? .request : nil
    }
}
