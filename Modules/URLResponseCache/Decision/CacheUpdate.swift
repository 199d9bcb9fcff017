import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// The change of the store after a response from the server. A pure function of the request, the head of the response
/// and the stored response.
///
/// Source: RFC 9111 sections 3, 4.3 and 4.4.
enum CacheUpdate {
    /// Store this response, which has no body yet, once its body has arrived. Section 3.
    case store(StoredResponse)
    /// The stored response gets this head. If `isKept` is false, it is removed instead, because the new head forbids
    /// storage or the time to live has passed. Section 4.3.4.
    case freshen(StoredResponse, isKept: Bool)
    /// The stored response is still valid, with this head, but the request forbids storing it. Section 5.2.1.5.
    case confirm(StoredResponse)
    /// Remove the stored response for the request, which is outdated.
    case drop
    /// Remove the stored responses for these resources, which are outdated, and then store the response if there is
    /// one. Section 4.4.
    case invalidate([ResourceKey], thenStore: StoredResponse?)
    /// Change nothing.
    case keep

    init(_ head: HTTPResponseHead, stored: StoredResponse?, _ exchange: ExchangeContext) {
        let method = exchange.request.method
        switch method {
        case .get where head.status == 304, .head where head.status == 304:
            self = Self.afterNotModified(head, stored, exchange)
        case .get: self = Self.afterGET(head, stored, exchange)
        case .head: self = Self.afterHEAD(head, stored, exchange)
        default: self = Self.afterOther(head, exchange)
        }
    }

    private static func afterNotModified(
        _ head: HTTPResponseHead, _ stored: StoredResponse?, _ exchange: ExchangeContext
    ) -> CacheUpdate {
        guard let stored else { return .keep }
        guard Validation.confirms(head, stored, exchange) else { return .drop }
        return freshen(stored, by: head, exchange)
    }

    private static func freshen(
        _ stored: StoredResponse, by head: HTTPResponseHead, _ exchange: ExchangeContext
    ) -> CacheUpdate {
        let fresh = Validation.freshened(stored, by: head, exchange)
        if StorageRules.requestForbidsStoring(exchange.request) { return .confirm(fresh) }
        let storability = StorageRules.storability(of: fresh.head, to: exchange.request, role: exchange.rules.role)
        return .freshen(fresh, isKept: storability == .storable && !fresh.isExpired(at: exchange.responseTime))
    }

    private static func afterGET(
        _ head: HTTPResponseHead, _ stored: StoredResponse?, _ exchange: ExchangeContext
    ) -> CacheUpdate {
        if StorageRules.requestForbidsStoring(exchange.request) { return .keep }
        // After a failure of the server or for a range that cannot be satisfied, the stored response may still be
        // current.
        let isUninformative = StatusRules.isTransientFailure(head.status) || head.status == 416
        let rejection: CacheUpdate = isUninformative || head.status == 206 ? .keep : .drop
        guard StorageRules.storability(of: head, to: exchange.request, role: exchange.rules.role) == .storable,
            !StorageRules.keepsContentCoding(head, to: exchange.request)
        else { return rejection }
        if isUninformative, stored != nil, Freshness(head, exchange).lifetime <= 0 { return .keep }
        guard let new = Self.response(head, exchange) else { return rejection }
        // The complete content is stored already, as far as the validators tell.
        if head.status == 206, let stored, stored.part == nil, PartialContentRules.isSameContent(head, stored) {
            return .keep
        }
        return .store(new)
    }

    private static func afterHEAD(
        _ head: HTTPResponseHead, _ stored: StoredResponse?, _ exchange: ExchangeContext
    ) -> CacheUpdate {
        guard let stored, !StatusRules.isTransientFailure(head.status),
            !StorageRules.requestForbidsStoring(exchange.request)
        else { return .keep }
        if Validation.describes(head, stored) { return freshen(stored, by: head, exchange) }
        // Section 4.3.5: the stored response is no longer fresh, but its validators may still be useful.
        var stale = stored
        stale.terms.lifetime = min(0, stored.terms.lifetime)
        stale.terms.staleWhileRevalidate = 0
        stale.terms.conditions.insert(.validatesAlways)
        return .freshen(stale, isKept: true)
    }

    private static func afterOther(_ head: HTTPResponseHead, _ exchange: ExchangeContext) -> CacheUpdate {
        guard RequestDirectives(exchange.request).isUnsafe else { return .keep }
        let outdated = Invalidation.resources(after: head, to: exchange.request)
        guard !outdated.isEmpty else { return .keep }
        let role = exchange.rules.role
        let mayStore =
            StorageRules.isReusableForGET(head, to: exchange.request, role: role, now: exchange.responseTime)
            && StorageRules.storability(of: head, to: exchange.request, role: role) == .storable
        return .invalidate(outdated, thenStore: mayStore ? response(head, exchange) : nil)
    }

    /// Returns the response to store, without its body. Returns nil for a 206 without a valid `Content-Range`, for a
    /// response whose `Vary` field cannot be matched (``Vary/names(of:to:role:)``), and for a response whose time to
    /// live has passed.
    private static func response(_ head: HTTPResponseHead, _ exchange: ExchangeContext) -> StoredResponse? {
        let role = exchange.rules.role
        guard let names = Vary.names(of: head, to: exchange.request, role: role) else { return nil }
        var response = StoredResponse(
            head: StoredHead.make(head, role: role, receivedAt: exchange.responseTime), body: Data(),
            varyingFields: Vary.fields(names, of: exchange.request),
            requestTime: exchange.requestTime, responseTime: exchange.responseTime,
            terms: Freshness(head, exchange))
        guard !response.isExpired(at: exchange.responseTime) else { return nil }
        if head.status == 206 {
            guard let range = head.fields["Content-Range"].flatMap({ ContentRange($0) }) else { return nil }
            response.part = ContentPart(offset: range.bytes.lowerBound, completeCount: range.completeCount)
            // The head of the complete content.
            response.head.status = 200
            response.head.fields = response.head.fields.removing(["content-range", "content-length"])
        }
        return response
    }
}

extension Freshness {
    fileprivate init(_ head: HTTPResponseHead, _ exchange: ExchangeContext) {
        self.init(
            head, to: exchange.request, requestTime: exchange.requestTime, responseTime: exchange.responseTime,
            rules: exchange.rules)
    }
}

/// The resources that an unsafe request may have changed. Source: RFC 9111 section 4.4.
private enum Invalidation {
    /// Returns the resources to invalidate after a response; none after an error response.
    static func resources(after head: HTTPResponseHead, to request: HTTPRequest) -> [ResourceKey] {
        guard (200..<400).contains(head.status) else { return [] }
        let named = ["Location", "Content-Location"].compactMap { name -> ResourceKey? in
            guard let text = head.fields.values(of: name).first,
                let url = URL(string: text, relativeTo: request.url)?.absoluteURL,
                origin(url) == origin(request.url)
            else { return nil }
            return ResourceKey(normal: url)
        }
        return [request.resourceKey] + named
    }

    /// Returns the origin of a URL. A response from another origin must not remove the stored responses of a resource.
    private static func origin(_ url: URL) -> Substring {
        let text = ResourceKey(normal: url).description
        guard let start = text.firstRange(of: "://")?.upperBound else { return text[...] }
        return text[..<start] + text[start...].prefix { $0 != "/" }
    }
}
