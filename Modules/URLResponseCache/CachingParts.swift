import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// The parts of a caching transport.
struct CachingParts: Sendable {
    let transport: any HTTPTransport
    let writer: ResponseWriter
    let rules: ResponseCacheRules
    let clock: any TimeSource
    let maximumBodyByteCount: Int
    let willStore: (@Sendable (StoredResponse, HTTPRequest) async -> StoredResponse?)?
    /// The bytes of all bodies that are being copied for the store.
    let budget: CopyBudget
    let background: BackgroundRevalidations
    let maximumRevalidationByteCount: Int
    let revalidations: Coalescer<HTTPRequest, Never, Revalidation>

    var store: any ResponseStoring { writer.store }
}

extension CachingParts {
    /// Returns the response that the app's hook approves for storage. Returns nil if the hook refuses it, or returns a
    /// response that must not be stored.
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

    /// Returns the response with the freshness of the fields that the hook has changed, as if the server had sent them.
    /// Returns nil if these fields forbid storage.
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
