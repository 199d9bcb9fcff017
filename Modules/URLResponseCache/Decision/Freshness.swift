import AlcedoCore
import FoundationEssentials

/// How old an answer is, and how old it may become. Source: RFC 9111 section 4.2.
struct Freshness {
    /// In seconds, never negative.
    let age: TimeInterval
    /// In seconds; 0 when the server named none, because this cache does not guess.
    let lifetime: TimeInterval

    init(of stored: StoredResponse, now: Date) {
        lifetime = Self.lifetime(of: stored.head, receivedAt: stored.responseTime) ?? 0
        age = Self.age(of: stored, now: now)
    }

    var isFresh: Bool { lifetime > age }

    /// The age as the `Age` field spells it.
    var ageField: String { String(Int(min(age, TimeInterval(DeltaSeconds.limit)))) }

    /// The lifetime that the server named, in seconds; nil when it named none. Section 4.2.1, for a private cache.
    static func lifetime(of head: HTTPResponseHead, receivedAt: Date) -> TimeInterval? {
        if let maximum = CacheControl(head.fields).seconds("max-age") { return TimeInterval(maximum.orZero) }
        guard head.fields["Expires"] != nil else { return nil }
        // An invalid date, "0" above all, means that it has expired (section 5.3).
        guard let expires = head.fields.date("Expires", now: receivedAt) else { return 0 }
        return max(0, expires.timeIntervalSince(date(of: head, receivedAt: receivedAt)))
    }

    /// When the server says it made the answer; the arrival when it does not say (RFC 9110 section 6.6.1).
    static func date(of head: HTTPResponseHead, receivedAt: Date) -> Date {
        head.fields.date("Date", now: receivedAt) ?? receivedAt
    }

    /// Section 4.2.3.
    private static func age(of stored: StoredResponse, now: Date) -> TimeInterval {
        let resident = now.timeIntervalSince(stored.responseTime)
        // The clock was set back, so nobody knows how long the answer has been here.
        guard resident >= 0 else { return TimeInterval(DeltaSeconds.limit) }
        let date = date(of: stored.head, receivedAt: stored.responseTime)
        let apparent = max(0, stored.responseTime.timeIntervalSince(date))
        let delay = max(0, stored.responseTime.timeIntervalSince(stored.requestTime))
        return max(apparent, claimedAge(stored.head.fields) + delay) + resident
    }

    /// The first member counts, and one that cannot be read does not (section 5.1).
    private static func claimedAge(_ fields: HTTPFields) -> TimeInterval {
        guard let first = fields.members(of: "Age").first else { return 0 }
        return TimeInterval(DeltaSeconds(first).orZero)
    }
}
