import AlcedoCore
import FoundationEssentials

/// One question to the server, as far as the rules need it.
struct ExchangeContext: Sendable {
    /// As the caller made it, without the cache's own conditions.
    let request: HTTPRequest
    let requestTime: Date
    let responseTime: Date
    let rules: ResponseCacheRules
    /// Whether the request was sent with the conditions of what is stored, not with the caller's alone.
    var asksAboutStored = false
}
