import AlcedoCore
import FoundationEssentials

extension ReuseTerms {
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
        return min(guess, max(0, rules.longestHeuristicLifetime / .seconds(1)))
    }
}
