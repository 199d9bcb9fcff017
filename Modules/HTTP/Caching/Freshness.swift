package import FoundationEssentials

/// The conditions under which a stored response may be reused. They are computed from its head and the rules of the
/// cache, when it is stored and again when it is validated.
///
/// All times are in seconds. Source: RFC 9111 sections 4.2 and 5.2.2, RFC 5861, RFC 8246.
package struct Freshness: Sendable, Hashable {
    /// The conditions that have no duration. Each of them either applies or does not.
    package struct Conditions: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Every use requires validation with the server.
        package static let validatesAlways = Conditions(rawValue: 1)
        /// Once the response is stale, every use requires validation, even if the request accepts stale responses.
        package static let neverStale = Conditions(rawValue: 2)
        /// The content does not change while the response is fresh. RFC 8246.
        package static let immutable = Conditions(rawValue: 4)
        /// The lifetime is heuristic: the server did not specify one.
        package static let heuristic = Conditions(rawValue: 8)
        /// The response was stored by a shared cache.
        package static let shared = Conditions(rawValue: 16)
    }

    /// The conditions that apply to the response.
    package var conditions: Conditions
    /// The time at which the server generated the response, as its `Date` field states; without a valid field, the time
    /// at which the head arrived.
    package var date: Date
    /// The age of the response when its head arrived.
    package var initialAge: TimeInterval
    /// The age at which the response becomes stale. 0 or less if it is never fresh; negative if it had expired before
    /// it was sent.
    package var lifetime: TimeInterval
    /// The time after the lifetime during which the response may be used while a newer one is fetched.
    package var staleWhileRevalidate: TimeInterval
    /// The time after the lifetime during which the response may be used if the server fails.
    package var staleIfError: TimeInterval
    /// The app's own time to live, counted from the arrival of the response or its last validation. When it has passed,
    /// the response is not used, regardless of all other conditions, and the next lookup removes it. Default: nil, no
    /// limit.
    package var timeToLive: TimeInterval?

    /// Creates the freshness of a response, which is by default stale at once.
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
