import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

extension Freshness {
    /// Reads the terms from the head of an answer that has arrived.
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
            // The time to live begins at the arrival, the lifetime when the server made the response.
            lifetime = rules.lifetimeExtendsFreshness ? initialAge + seconds : min(lifetime, initialAge + seconds)
        }
    }

    /// RFC 9111 section 4.2.3. Whole seconds of the server's clock, so that the fractions of ours do not count as age.
    private static func initialAge(
        _ fields: HTTPFields, date: Date, requestTime: Date, responseTime: Date
    ) -> TimeInterval {
        let apparent = max(0, responseTime.timeIntervalSince(date)).rounded(.down)
        let delay = max(0, responseTime.timeIntervalSince(requestTime))
        // The first member counts, and one that cannot be read does not (section 5.1). An answer may have been on its
        // way for as long as the whole exchange took, whether or not it names an age.
        let claimed = fields.members(of: "Age").first.map { DeltaSeconds($0).orZero } ?? 0
        return max(apparent, TimeInterval(claimed) + delay)
    }

    /// RFC 9111 section 4.2.2.
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
    /// Seconds since the server made or confirmed the answer. RFC 9111 section 4.2.3.
    func age(at now: Date) -> TimeInterval {
        let resident = now.timeIntervalSince(responseTime)
        // The clock was set back, so nobody knows how long the answer has been here.
        guard resident >= 0 else { return TimeInterval(DeltaSeconds.limit) }
        return terms.initialAge + resident
    }

    /// Whether the app's own time to live has passed. A clock that was set back leaves that unknown, which counts as
    /// passed.
    func isExpired(at now: Date) -> Bool {
        guard let limit = terms.timeToLive else { return false }
        let resident = now.timeIntervalSince(responseTime)
        return resident < 0 || resident >= limit
    }

    /// The content's validator, when it has one.
    var entityTag: EntityTag? { head.fields.entityTag }

    /// When the content last changed, when the server says so.
    var lastModified: Date? { head.fields.date("Last-Modified", now: responseTime) }

    /// The date of the last change, when it is a strong validator: the response was made at least a minute later, so that
    /// the content cannot have changed twice by then. RFC 9110 section 8.8.2.2.
    var strongDate: Date? {
        lastModified.flatMap { $0.isStrongValidator(inResponseOf: terms.date) ? $0 : nil }
    }

    /// The strong validator of the content as `If-Range` has it: the tag, or the date of the last change of a content
    /// without a tag. RFC 9110 section 13.1.5.
    var rangeCondition: String? {
        guard head.fields.contains("ETag") else { return strongDate == nil ? nil : head.fields["Last-Modified"] }
        return entityTag.flatMap { $0.isWeak ? nil : $0.text }
    }

    /// Whether bytes of the content can be told by their offsets: it is stored as it was sent.
    var hasOffsets: Bool { head.status == 200 && !head.fields.contains("Content-Encoding") }
}

extension Date {
    /// Whether the date of a last change is a strong validator in a response that was made at `date`.
    func isStrongValidator(inResponseOf date: Date) -> Bool { date.timeIntervalSince(self) >= 60 }
}

/// When a stale answer may be used. Source: RFC 9111 section 4.2.4, RFC 5861.
enum Staleness {
    /// The failure of a server.
    enum Failure {
        /// The server was not reached, or did not respond.
        case disconnected
        /// The server responded with 500, 502, 503 or 504.
        case error
    }

    /// Whether the answer may be used while a newer one is fetched.
    static func allowsWhileRevalidating(_ stored: StoredResponse, age: TimeInterval, _ request: RequestDirectives)
        -> Bool
    {
        !request.requestsNewerResponse && allowsStaleUse(stored)
            && age - stored.terms.lifetime <= stored.terms.staleWhileRevalidate
            && stored.terms.staleWhileRevalidate > 0
    }

    /// Whether the request is content with an answer that has been stale for so long. Section 5.2.1.2.
    static func isAccepted(_ stored: StoredResponse, age: TimeInterval, by request: RequestDirectives) -> Bool {
        // Who wants it to stay fresh for a while (section 5.2.1.3) does not want it stale.
        guard let limit = request.maximumStaleness, !request.requiresValidation, request.minimumFreshness == nil,
            allowsStaleUse(stored)
        else { return false }
        if let oldest = request.maximumAge, age > TimeInterval(oldest) { return false }
        return age - stored.terms.lifetime <= TimeInterval(limit)
    }

    /// Whether the answer may stand in for one that the server fails to give.
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
