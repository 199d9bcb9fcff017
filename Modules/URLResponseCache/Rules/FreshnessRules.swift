import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

extension Freshness {
    /// Creates the freshness of a received response from its head.
    init(
        _ head: HTTPResponseHead, to request: HTTPRequest, requestTime: Date, responseTime: Date,
        rules: ResponseCacheRules
    ) {
        let directives = ResponseDirectives(head.fields, role: rules.role)
        let date = head.fields.date("Date", now: responseTime) ?? responseTime
        self.init(date: date)
        initialAge = Self.initialAge(head.fields, date: date, requestTime: requestTime, responseTime: responseTime)
        if directives.validatesAlways { conditions.insert(.validatesAlways) }
        if directives.neverStale { conditions.insert(.neverStale) }
        if directives.control.contains("immutable") { conditions.insert(.immutable) }
        if rules.role.isShared { conditions.insert(.shared) }
        if let explicit = directives.explicitLifetime(date: date, receivedAt: responseTime) {
            lifetime = explicit
        } else if let guess = Self.heuristicLifetime(head, directives, date: date, receivedAt: responseTime, rules) {
            lifetime = guess
            conditions.insert(.heuristic)
        }
        staleWhileRevalidate = directives.window("stale-while-revalidate")
        staleIfError = directives.window("stale-if-error")
        if let limit = rules.lifetime?(head, request) {
            let seconds = max(0, limit / .seconds(1))
            timeToLive = seconds
            // The time to live starts when the response arrives. The freshness lifetime starts when the server
            // generates it.
            lifetime = rules.lifetimeExtendsFreshness ? initialAge + seconds : min(lifetime, initialAge + seconds)
        }
    }

    /// Returns the age at arrival in seconds. RFC 9111 section 4.2.3.
    ///
    /// The apparent age is rounded down because the `Date` field has whole seconds, so that fractions of the local
    /// clock do not count as age.
    private static func initialAge(
        _ fields: HTTPFields, date: Date, requestTime: Date, responseTime: Date
    ) -> TimeInterval {
        let apparent = max(0, responseTime.timeIntervalSince(date)).rounded(.down)
        let delay = max(0, responseTime.timeIntervalSince(requestTime))
        // The first member of `Age` counts, and an invalid one is ignored (section 5.1). The whole duration of the
        // exchange counts as transit time, with or without an `Age`.
        let claimed = fields.members(of: "Age").first.map { DeltaSeconds($0).orZero } ?? 0
        return max(apparent, TimeInterval(claimed) + delay)
    }

    /// Returns the heuristic freshness lifetime in seconds; nil if the rules or the response allow none. RFC 9111
    /// section 4.2.2.
    private static func heuristicLifetime(
        _ head: HTTPResponseHead, _ directives: ResponseDirectives, date: Date, receivedAt: Date,
        _ rules: ResponseCacheRules
    ) -> TimeInterval? {
        guard rules.heuristicFraction > 0,
            StatusRules.isHeuristicallyCacheable(head.status) || directives.control.contains("public"),
            let modified = head.fields.date("Last-Modified", now: receivedAt)
        else { return nil }
        let guess = max(0, date.timeIntervalSince(modified)) * rules.heuristicFraction
        return min(guess, max(0, rules.maximumHeuristicLifetime / .seconds(1)))
    }
}

extension StoredResponse {
    /// Returns the number of seconds since the origin server generated or validated the response; the maximum number if
    /// the clock was set back. RFC 9111 section 4.2.3.
    func age(at now: Date) -> TimeInterval {
        let resident = now.timeIntervalSince(responseTime)
        // The clock was set back, so the time in the cache is unknown.
        guard resident >= 0 else { return TimeInterval(DeltaSeconds.limit) }
        return terms.initialAge + resident
    }

    /// Whether the app's own time to live has passed; false if the app has set none. If the clock was set back, the
    /// time in the cache is unknown, and any time to live counts as passed.
    func isExpired(at now: Date) -> Bool {
        guard let limit = terms.timeToLive else { return false }
        let resident = now.timeIntervalSince(responseTime)
        return resident < 0 || resident >= limit
    }

    /// The entity tag of the content; nil if the response has no valid one.
    var entityTag: EntityTag? { head.fields.entityTag }

    /// The date of the content's last change; nil if the response has no valid one.
    var lastModified: Date? { head.fields.date("Last-Modified", now: responseTime) }

    /// The date of the last change, if it is a strong validator; otherwise nil. RFC 9110 section 8.8.2.2.
    var strongDate: Date? {
        lastModified.flatMap { $0.isStrongValidator(inResponseOf: terms.date) ? $0 : nil }
    }

    /// The strong validator of the content for `If-Range`: the entity tag, or the date of the last change of a content
    /// without a tag. The value is nil if the content has no strong validator. RFC 9110 section 13.1.5.
    var rangeCondition: String? {
        guard head.fields.contains("ETag") else { return strongDate == nil ? nil : head.fields["Last-Modified"] }
        return entityTag.flatMap { $0.isWeak ? nil : $0.text }
    }

    /// Whether byte offsets identify bytes of the content: the status is 200, and the content has no content coding,
    /// which the transport may have decoded.
    var hasOffsets: Bool { head.status == 200 && !head.fields.contains("Content-Encoding") }
}

/// The conditions under which a stale response may be used. Source: RFC 9111 section 4.2.4, RFC 5861.
enum Staleness {
    enum Failure {
        /// The server could not be reached, or did not respond.
        case disconnected
        /// The server responded with 500, 502, 503 or 504.
        case error
    }

    /// Whether the response may be used while a newer one is fetched. RFC 5861 section 3.
    static func allowsWhileRevalidating(_ stored: StoredResponse, age: TimeInterval, _ request: RequestDirectives)
        -> Bool
    {
        !request.requestsNewerResponse && allowsStaleUse(stored)
            && age - stored.terms.lifetime <= stored.terms.staleWhileRevalidate
            && stored.terms.staleWhileRevalidate > 0
    }

    /// Whether the request accepts the response if it is stale at this age. Section 5.2.1.2.
    static func isAccepted(_ stored: StoredResponse, age: TimeInterval, by request: RequestDirectives) -> Bool {
        // A request that requires remaining freshness (section 5.2.1.3) accepts no stale response.
        guard let limit = request.maximumStaleness, !request.requiresValidation, request.minimumFreshness == nil,
            allowsStaleUse(stored)
        else { return false }
        if let oldest = request.maximumAge, age > TimeInterval(oldest) { return false }
        return age - stored.terms.lifetime <= TimeInterval(limit)
    }

    /// Whether the response may be used after the server has failed.
    static func allows(
        _ stored: StoredResponse, at now: Date, despite failure: Failure, _ request: RequestDirectives,
        _ rules: ResponseCacheRules
    ) -> Bool {
        guard allowsStaleUse(stored) else { return false }
        let staleness = stored.age(at: now) - stored.terms.lifetime
        if request.staleIfError > 0, staleness <= TimeInterval(request.staleIfError) { return true }
        guard !request.requestsNewerResponse else { return false }
        if stored.terms.staleIfError > 0, staleness <= stored.terms.staleIfError { return true }
        return failure == .disconnected && rules.servesStaleWhenDisconnected
    }

    private static func allowsStaleUse(_ stored: StoredResponse) -> Bool {
        stored.terms.conditions.isDisjoint(with: [.validatesAlways, .neverStale])
    }
}
