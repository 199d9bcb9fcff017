import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// The validation of stored responses with the server. Source: RFC 9111 section 4.3.
enum Validation {
    private static let names: Set = ["if-none-match", "if-modified-since"]

    /// Returns the request with the validators of a stored response as its conditions. They replace the caller's
    /// conditions, but if the response has an entity tag, the caller's own tags follow it. Returns nil if the response
    /// has no validator. Sections 4.3.1 and 4.3.2.
    static func request(_ request: HTTPRequest, confirming stored: StoredResponse) -> HTTPRequest? {
        let tag = stored.entityTag
        let modified = stored.lastModified == nil ? nil : stored.head.fields["Last-Modified"]
        guard tag != nil || modified != nil else { return nil }
        var conditional = request
        conditional.fields = request.fields.removing(names)
        if let tag {
            let own = EntityTag.list(request.fields.values(of: "If-None-Match")).filter { $0 != tag }
            conditional.fields.append("If-None-Match", ([tag] + own).map(\.text).joined(separator: ", "))
        }
        if let modified { conditional.fields.append("If-Modified-Since", modified) }
        return conditional
    }

    /// Returns the request with the entity tags of stored variants as its condition. None of the variants matches the
    /// request, but the server may select one of them. Section 4.3.1.
    static func request(_ request: HTTPRequest, offering tags: [String]) -> HTTPRequest {
        var offering = request
        offering.fields["If-None-Match"] = tags.joined(separator: ", ")
        return offering
    }

    /// Whether a 304 confirms this response: it has the response's validator, or it has none and the request can only
    /// have been about this response. Section 4.3.4.
    static func confirms(
        _ notModified: HTTPResponseHead, _ stored: StoredResponse, _ exchange: ExchangeContext
    ) -> Bool {
        if notModified.fields.contains("ETag") {
            guard let tag = notModified.fields.entityTag, let own = stored.entityTag else { return false }
            return tag.isWeak ? tag.matchesWeakly(own) : tag == own
        }
        if let modified = notModified.fields["Last-Modified"] { return modified == stored.head.fields["Last-Modified"] }
        return isAbout(stored, exchange)
    }

    /// Whether a 304 confirms, by its entity tag, the caller's own copy.
    static func isAboutCaller(_ notModified: HTTPResponseHead, _ request: HTTPRequest) -> Bool {
        guard let tag = notModified.fields.entityTag else { return false }
        return EntityTag.list(request.fields.values(of: "If-None-Match")).contains { $0.matchesWeakly(tag) }
    }

    /// Whether the validators of the sent request identify this stored response and no other.
    private static func isAbout(_ stored: StoredResponse, _ exchange: ExchangeContext) -> Bool {
        let tags = EntityTag.list(exchange.request.fields.values(of: "If-None-Match"))
        let modified = stored.lastModified == nil ? nil : stored.head.fields["Last-Modified"]
        guard let own = stored.entityTag else {
            // A response without a validator cannot be distinguished from others and counts as the confirmed one.
            return exchange.isConditionalOnStored || modified == nil
                || (tags.isEmpty && exchange.request.fields["If-Modified-Since"] == modified)
        }
        guard tags.isEmpty, !exchange.isConditionalOnStored else { return tags.allSatisfy { $0 == own } }
        return modified != nil && exchange.request.fields["If-Modified-Since"] == modified
    }

    /// Whether a response to HEAD describes the stored content. Section 4.3.5.
    static func describes(_ head: HTTPResponseHead, _ stored: StoredResponse) -> Bool {
        guard head.status == stored.head.status else { return false }
        let own = stored.head.fields
        let length = stored.part == nil ? stored.body.count : stored.part?.completeCount
        return ["ETag", "Last-Modified"].allSatisfy { head.fields[$0] == nil || head.fields[$0] == own[$0] }
            && (head.declaredBodyLength.map { $0 == length } ?? true)
    }

    /// Returns `newer`, a part of the same content as `stored`, with the fields of `stored` that `newer` lacks.
    /// Sections 3.2 and 3.4.
    static func joined(
        _ newer: StoredResponse, to stored: StoredResponse, for request: HTTPRequest, _ rules: ResponseCacheRules
    ) -> StoredResponse {
        var joined = newer
        joined.head = StoredHead.updated(
            stored.head, by: newer.head, role: rules.role, receivedAt: newer.responseTime)
        // The freshness of the newer head, which a hook may have changed, stays unless the stored head adds fields to
        // it.
        let names = ["Cache-Control", "Expires", "Pragma", "Last-Modified"] + rules.role.targets
        guard names.contains(where: { joined.head.fields.contains($0) && !newer.head.fields.contains($0) }) else {
            return joined
        }
        joined.terms = Freshness(
            joined.head, to: request, requestTime: newer.requestTime, responseTime: newer.responseTime, rules: rules)
        // The age at arrival is not part of the stored fields.
        joined.terms.initialAge = max(joined.terms.initialAge, newer.terms.initialAge)
        return joined
    }

    /// Returns the stored response, updated with the fields of a newer head about the same content. Sections 3.2, 4.3.4
    /// and 4.3.5.
    static func freshened(_ stored: StoredResponse, by head: HTTPResponseHead, _ exchange: ExchangeContext)
        -> StoredResponse
    {
        let role = exchange.rules.role
        var fresh = stored
        fresh.head = StoredHead.updated(stored.head, by: head, role: role, receivedAt: exchange.responseTime)
        (fresh.requestTime, fresh.responseTime) = (exchange.requestTime, exchange.responseTime)
        // The age of the newer head applies.
        var aged = fresh.head
        if let age = head.fields["Age"] { aged.fields["Age"] = age }
        fresh.terms = Freshness(
            aged, to: exchange.request, requestTime: exchange.requestTime, responseTime: exchange.responseTime,
            rules: exchange.rules)
        if let names = Vary.names(of: fresh.head, to: exchange.request, role: role) {
            fresh.varyingFields = Vary.fields(names, of: exchange.request)
        }
        return fresh
    }
}

/// The evaluation of the caller's conditions against a stored response. Source: RFC 9111 section 4.3.2, RFC 9110
/// section 13.
enum Precondition {
    /// Whether the caller's copy is current, so that a 304 suffices.
    static func isMet(by stored: StoredResponse, _ request: HTTPRequest) -> Bool {
        guard stored.head.status == 200 else { return false }
        let tags = request.fields.values(of: "If-None-Match")
        if !tags.isEmpty {
            if tags.contains(where: { $0.trimmingBlanks == "*" }) { return true }
            guard let own = stored.entityTag else { return false }
            return EntityTag.list(tags).contains { $0.matchesWeakly(own) }
        }
        guard let since = request.fields.date("If-Modified-Since", now: stored.responseTime) else { return false }
        return (stored.lastModified ?? stored.terms.date) <= since
    }

    /// Whether a range of the stored response may be served: the request has no `If-Range`, or its condition holds. RFC
    /// 9110 section 13.1.5.
    static func allowsRange(of stored: StoredResponse, _ request: HTTPRequest) -> Bool {
        guard let condition = request.fields["If-Range"] else { return true }
        if let date = HTTPDate.parse(condition, now: stored.responseTime) {
            return stored.strongDate == date
        }
        guard let tag = EntityTag(condition), let own = stored.entityTag else { return false }
        return tag.matchesStrongly(own)
    }
}

extension String {
    fileprivate var trimmingBlanks: Substring { self[...].trimmingBlanks }
}

/// The properties of one exchange with the server that the rules need.
struct ExchangeContext: Sendable {
    /// The request of the caller, without the cache's own conditions.
    let request: HTTPRequest
    let requestTime: Date
    let responseTime: Date
    let rules: ResponseCacheRules
    /// Whether the request was sent with the validators of the stored response, not only with the caller's conditions.
    var isConditionalOnStored = false
}
