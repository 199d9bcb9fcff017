import AlcedoCore

/// What a caching transport is made of.
struct CachingParts: Sendable {
    let transport: any HTTPTransport
    let writer: ResponseWriter
    let rules: ResponseCacheRules
    let time: any TimeSource
    let maximumBodyByteCount: Int
    let willStore: (@Sendable (StoredResponse, HTTPRequest) async -> StoredResponse?)?
    let budget: CopyBudget
    let background: BackgroundWork
    let backgroundByteLimit: Int
    let revalidations = Coalescer<HTTPRequest, Never, Revalidation>()

    var store: any ResponseStoring { writer.store }
}
