import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// What an answer of the server changes in the store. A pure function of the request, the head of the answer, and what
/// is stored for the request.
///
/// Source: RFC 9111 sections 3, 4.3 and 4.4.
enum CacheUpdate {
    /// Keep the body as it comes, under this head, when it has come whole. Section 3.
    case store(StoredResponse)
    /// The stored answer holds, with this head. It is kept unless what the head now says forbids it. Section 4.3.4.
    case freshen(StoredResponse, isKept: Bool)
    /// The stored answer holds, with this head; the request does not let it be stored. Section 5.2.1.5.
    case confirm(StoredResponse)
    /// What is stored for the request is outdated.
    case drop
    /// What is stored for these resources is outdated. Section 4.4.
    case invalidate([ResourceKey], thenStore: StoredResponse?)
    /// Nothing.
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
        // The server's trouble says nothing about the resource. A range that is not there does not, either.
        let isSilent = StatusRules.isTransientFailure(head.status) || head.status == 416
        let rejection: CacheUpdate = isSilent || head.status == 206 ? .keep : .drop
        guard StorageRules.storability(of: head, to: exchange.request, role: exchange.rules.role) == .storable,
            !StorageRules.keepsContentCoding(head, to: exchange.request)
        else { return rejection }
        if isSilent, stored != nil, Freshness(head, exchange).lifetime <= 0 { return .keep }
        guard let new = Self.response(head, exchange) else { return rejection }
        // A part of what is there whole, as far as anyone can tell.
        if head.status == 206, let stored, stored.part == nil, PartialContent.isSameContent(head, stored) {
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
        // Section 4.3.5: no longer fresh; its validators may still be of use.
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

    /// The answer as it will be stored, still without its body; nil for a part that says nothing of its place, and for
    /// one whose time to live has passed.
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
            // The head of the whole, which this is a part of.
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

/// What a request that may have changed something makes useless. Source: RFC 9111 section 4.4.
private enum Invalidation {
    /// The resources to forget after an answer; none after an error, which changes nothing.
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

    /// What another site says about a resource must not remove it.
    private static func origin(_ url: URL) -> Substring {
        let text = ResourceKey(normal: url).description
        guard let start = text.firstRange(of: "://")?.upperBound else { return text[...] }
        return text[..<start] + text[start...].prefix { $0 != "/" }
    }
}
