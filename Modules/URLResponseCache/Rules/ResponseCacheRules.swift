import AlcedoCore
public import AlcedoHTTP

/// The behavior of a response cache where HTTP allows a choice.
///
/// ```swift
/// import AlcedoURLResponseCache
///
/// let rules = ResponseCacheRules(lifetime: { _, _ in .seconds(600) })
/// ```
public struct ResponseCacheRules: Sendable {
    /// The users that the cache serves. Default: private.
    public var role: CacheRole
    /// The fraction of the time since `Last-Modified` for which a response without a freshness lifetime counts as
    /// fresh. With 0, such a response has no lifetime. Default: 0.1, as RFC 9111 section 4.2.2 suggests.
    public var heuristicFraction: Double
    /// The maximum of such a heuristic lifetime. Default: 7 days.
    public var maximumHeuristicLifetime: Duration
    /// Whether a stale response is served if the server cannot be reached and no directive forbids it (RFC 9111 section
    /// 4.2.4). The setting does not affect stale responses that the server or the request allows with `stale-if-error`.
    /// Default: true.
    public var servesStaleWhenDisconnected: Bool
    /// Whether a request receives a 504 response, instead of the transport's error, if the server cannot be reached and
    /// the stored response must not be served (RFC 9111 sections 4.2.4 and 5.2.2.2).
    ///
    /// That is the case for a response with `must-revalidate` or `no-cache`, and for a request that requires
    /// validation. If no response is stored, the error is thrown in any case. Default: false.
    public var respondsWhenDisconnected: Bool
    /// A closure that returns the app's own time to live of a response, counted from its arrival or its last
    /// validation; nil for no limit. Default: nil.
    ///
    /// After that time the response is removed: no cache policy, directive or network failure makes it available again,
    /// and ``URLResponseCache/response(for:)`` does not return it. Before that, the response's own fields determine its
    /// freshness, unless ``lifetimeExtendsFreshness`` is set. A response with a time of zero or less is not stored.
    /// Called once or several times for each response that may be stored or that updates a stored one. Any thread may
    /// call it, and it must not block.
    public var lifetime: (@Sendable (HTTPResponseHead, HTTPRequest) -> Duration?)?
    /// Whether a response with a ``lifetime`` is fresh for all of that time, even if the response specifies a shorter
    /// time or none. Directives that forbid storage or require validation still apply. Default: false.
    public var lifetimeExtendsFreshness: Bool

    /// Creates rules, by default those of a private cache. The parameters are the properties of the same names.
    public init(
        role: CacheRole = .private, heuristicFraction: Double = 0.1,
        maximumHeuristicLifetime: Duration = .seconds(7 * 86_400), servesStaleWhenDisconnected: Bool = true,
        respondsWhenDisconnected: Bool = false,
        lifetime: (@Sendable (HTTPResponseHead, HTTPRequest) -> Duration?)? = nil,
        lifetimeExtendsFreshness: Bool = false
    ) {
        self.role = role
        self.heuristicFraction = heuristicFraction
        self.maximumHeuristicLifetime = maximumHeuristicLifetime
        self.servesStaleWhenDisconnected = servesStaleWhenDisconnected
        self.respondsWhenDisconnected = respondsWhenDisconnected
        self.lifetime = lifetime
        self.lifetimeExtendsFreshness = lifetimeExtendsFreshness
    }
}

/// The users that a cache serves. Source: RFC 9111 section 1.
public enum CacheRole: Sendable, Hashable {
    /// A private cache, for one user: an app. It may store responses with `private`.
    case `private`
    /// A shared cache, for many users: a server. A response for one user never reaches another.
    ///
    /// - Parameter targets: The targeted fields that take precedence over `Cache-Control`, the most specific first,
    ///   such as `CDN-Cache-Control`. Default: none. Source: RFC 9213.
    case shared(targets: [String] = [])

    var isShared: Bool { self != .private }

    var targets: [String] { if case .shared(let targets) = self { targets } else { [] } }
}
