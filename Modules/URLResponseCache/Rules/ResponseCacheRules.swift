public import AlcedoCore

/// What a response cache does where HTTP leaves it a choice.
public struct ResponseCacheRules: Sendable {
    /// Default: private.
    public var role = CacheRole.private
    /// The part of the time since `Last-Modified` that an answer without a lifetime counts as fresh; 0 guesses nothing.
    /// Default: 0.1, as RFC 9111 section 4.2.2 suggests.
    public var heuristicFraction = 0.1
    /// The longest lifetime that is guessed. Default: 7 days.
    public var longestHeuristicLifetime = Duration.seconds(7 * 86_400)
    /// Whether a stale answer is used when the server cannot be reached and nothing forbids it (RFC 9111 section
    /// 4.2.4); where the server or the request says so itself (`stale-if-error`), it is used in any case. Default: true.
    public var servesStaleWhenDisconnected = true
    /// A rule of the app's own for how long an answer is fresh, in the place of what the answer says; nil leaves the
    /// answer its say. What may not be stored, or not be used without asking, stays so.
    ///
    /// Called once for each answer that arrives, and again when a hook has changed its fields; from any thread; must
    /// not block.
    public var lifetime: (@Sendable (HTTPResponseHead, HTTPRequest) -> Duration?)?

    /// The defaults for a cache of one user, or of many.
    public init(role: CacheRole = .private) { self.role = role }
}
