import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// The components that all exchanges of a caching transport share.
struct CachingParts: Sendable {
    let transport: any HTTPTransport
    let writer: ResponseWriter
    let rules: ResponseCacheRules
    let clock: any TimeSource
    let maximumBodyByteCount: Int
    let willServe: CachingTransport.ServingHook?
    let willStore: (@Sendable (StoredResponse, HTTPRequest) async -> StoredResponse?)?
    /// The budget for the bodies that are being copied for the store.
    let budget: CopyBudget
    let background: BackgroundRevalidations
    let maximumRevalidationByteCount: Int
    let revalidations: Coalescer<HTTPRequest, Never, Revalidation>

    var store: any ResponseStoring { writer.store }
}

extension CachingParts {
    /// Returns the decision after the app's hook has seen it; without a hook, the decision itself. The hook decides
    /// only between a stored response and its validation.
    func reviewed(_ decision: CacheDecision, of request: HTTPRequest) async -> CacheDecision {
        guard let willServe, request.cachePolicy == .useProtocolCachePolicy else { return decision }
        switch decision {
        case .serve(let stored, _), .serveAndRevalidate(let stored):
            return await willServe(stored, request, .stored) == .stored ? decision : .revalidate(stored, .request)
        case .revalidate(let stored, _):
            guard await willServe(stored, request, .server) == .stored else { return decision }
            return .serve(stored, stored.terms.lifetime > stored.age(at: clock.now) ? .fresh : .stale)
        case .complete, .fetch, .forward, .unsatisfiable: return decision
        }
    }

    /// Returns the response to store after the app's hook has inspected it; without a hook, the response itself.
    /// Returns nil if the hook refuses the response, changes which bytes of the content it has, or changes its head so
    /// that the cache does not store it.
    func approved(_ new: StoredResponse, for request: HTTPRequest) async -> StoredResponse? {
        guard let willStore else { return new }
        guard var changed = await willStore(new, request) else { return nil }
        // The bytes of a partial response belong to fixed offsets of the content, so the hook must not change them.
        guard new.part == nil ? changed.part == nil : changed.part == new.part && changed.body == new.body else {
            return nil
        }
        let areFieldsChanged = changed.head != new.head
        if changed.body.count != new.body.count, new.head.fields.contains("Content-Length") {
            changed.head.fields["Content-Length"] = String(changed.body.count)
        }
        return areFieldsChanged ? Self.reread(changed, insteadOf: new, for: request, rules) : changed
    }

    /// Returns the changed response with the freshness and the varying fields of its new head, as if the server had
    /// sent it. A freshness that the hook itself has changed is kept. Returns nil if the cache does not store a
    /// response with such a head.
    private static func reread(
        _ changed: StoredResponse, insteadOf new: StoredResponse, for request: HTTPRequest, _ rules: ResponseCacheRules
    ) -> StoredResponse? {
        guard StorageRules.storability(of: changed.head, to: request, role: rules.role) == .storable,
            let names = Vary.names(of: changed.head, to: request, role: rules.role)
        else { return nil }
        var reread = changed
        reread.varyingFields = Vary.fields(names, of: request)
        if changed.terms == new.terms {
            reread.terms = Freshness(
                changed.head, to: request, requestTime: new.requestTime, responseTime: new.responseTime, rules: rules)
            // The age at arrival is not part of the stored fields.
            reread.terms.initialAge = max(reread.terms.initialAge, new.terms.initialAge)
        }
        return reread
    }
}
