import AlcedoCore
public import AlcedoHTTP

/// What a response cache does where HTTP leaves it a choice.
///
/// ```swift
/// let rules = ResponseCacheRules(lifetime: { _, _ in .seconds(600) })
/// ```
public struct ResponseCacheRules: Sendable {
    package var role: CacheRole
    package var heuristicFraction: Double
    package var maximumHeuristicLifetime: Duration
    package var servesStaleWhenDisconnected: Bool
    package var respondsWhenDisconnected: Bool
    package var lifetime: (@Sendable (HTTPResponseHead, HTTPRequest) -> Duration?)?
    package var lifetimeExtendsFreshness: Bool

    /// Creates rules, by default those of a cache of one user.
    ///
    /// - Parameters:
    ///   - role: For whom the cache stores responses. Default: private.
    ///   - heuristicFraction: The part of the time since `Last-Modified` for which a response without a lifetime counts as
    ///     fresh; 0 guesses no lifetime. Default: 0.1, as RFC 9111 section 4.2.2 suggests.
    ///   - maximumHeuristicLifetime: The longest lifetime that is guessed. Default: 7 days.
    ///   - servesStaleWhenDisconnected: Whether a stale response is used when the server cannot be reached and nothing
    ///     forbids it (RFC 9111 section 4.2.4). Where the server or the request says so itself (`stale-if-error`), it is
    ///     used in any case. Default: true.
    ///   - respondsWhenDisconnected: Whether a request gets a 504 response, instead of the transport's error, when the
    ///     server cannot be reached and the stored response must not stand in (RFC 9111 sections 4.2.4 and 5.2.2.2): it has
    ///     `must-revalidate` or `no-cache`, or the request requires validation. With nothing stored the error is thrown in
    ///     any case. Default: false.
    ///   - lifetime: Returns the app's own time to live of a response, counted from its arrival or its last confirmation;
    ///     nil sets no limit. After that time the response is removed: no cache policy, directive or failure of the network
    ///     brings it back, and ``URLResponseCache/response(for:)`` does not return it. Until then it is fresh for as long
    ///     as it says itself, unless `lifetimeExtendsFreshness` is set. A response with a time of zero or less is not
    ///     stored. Called once for each response that arrives, and again when a hook has changed its fields; from any
    ///     thread; must not block. Default: nil.
    ///   - lifetimeExtendsFreshness: Whether a response with a `lifetime` is fresh for all of it, even when the response
    ///     names a shorter time or none. What may not be stored, or not be used without validation, stays so. Default:
    ///     false.
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

/// For whom a cache keeps answers. Source: RFC 9111 section 1.
public enum CacheRole: Sendable, Hashable {
    /// For one user: an app. What is marked `private` may be stored.
    case `private`
    /// For many users: a server. Nothing that was meant for one of them reaches another.
    ///
    /// - Parameter targets: The targeted fields that this cache obeys before `Cache-Control`, the most specific first,
    ///   such as `CDN-Cache-Control`. Source: RFC 9213.
    case shared(targets: [String] = [])

    var isShared: Bool { self != .private }

    var targets: [String] { if case .shared(let targets) = self { targets } else { [] } }
}
