package import FoundationEssentials

/// On what terms an answer may be used again: what its head says, read once, when it is stored.
///
/// All times are in seconds. Source: RFC 9111 sections 4.2 and 5.2.2, RFC 5861, RFC 8246.
package struct Freshness: Sendable, Hashable {
    /// What an answer's head says beside numbers.
    package struct Conditions: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Every use needs the server's word.
        package static let validatesAlways = Conditions(rawValue: 1)
        /// Once stale, every use needs the server's word, whatever the request allows.
        package static let neverStale = Conditions(rawValue: 2)
        /// The content never changes while it is fresh.
        package static let immutable = Conditions(rawValue: 4)
        /// The lifetime is a guess of the cache.
        package static let heuristic = Conditions(rawValue: 8)
        /// Stored by a cache that many users share.
        package static let shared = Conditions(rawValue: 16)
    }

    /// What the head says beside numbers.
    package var conditions: Conditions
    /// When the server made the answer.
    package var date: Date
    /// How old the answer was when its head arrived.
    package var initialAge: TimeInterval
    /// How old it may become; 0 or less for never fresh, less for what had expired before it was sent.
    package var lifetime: TimeInterval
    /// How long after its lifetime it may be used while a newer one is fetched.
    package var staleWhileRevalidate: TimeInterval
    /// How long after its lifetime it may be used when the server is in trouble.
    package var staleIfError: TimeInterval
    /// How long after its arrival, or its last confirmation, the response is kept by a rule of the app's own: it is
    /// then removed, whatever else allows its use. nil, the default, is no limit.
    package var timeToLive: TimeInterval?

    /// The terms of an answer; by default it is stale at once.
    package init(
        conditions: Conditions = [], date: Date, initialAge: TimeInterval = 0, lifetime: TimeInterval = 0,
        staleWhileRevalidate: TimeInterval = 0, staleIfError: TimeInterval = 0, timeToLive: TimeInterval? = nil
    ) {
        self.conditions = conditions
        self.date = date
        self.initialAge = initialAge
        self.lifetime = lifetime
        self.staleWhileRevalidate = staleWhileRevalidate
        self.staleIfError = staleIfError
        self.timeToLive = timeToLive
    }
}
