import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// Asks the server whether stored answers still hold, and takes in what it says. Source: RFC 9111 section 4.3.
enum Validation {
    private static let names: Set = ["if-none-match", "if-modified-since"]

    /// The request with the conditions of a stored answer, and the caller's own tags beside them; nil when the answer
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

    /// The request with the tags of variants of which none fits it: the server may know that one of them does.
    /// Section 4.3.1.
    static func request(_ request: HTTPRequest, offering tags: [String]) -> HTTPRequest {
        var offering = request
        offering.fields["If-None-Match"] = tags.joined(separator: ", ")
        return offering
    }

    /// Whether a 304 is about this answer: it names the answer's own validator, or none when no other was asked about.
    /// Section 4.3.4.
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

    /// Whether a 304 names a copy of the caller's own, and so is for him.
    static func isAboutCaller(_ notModified: HTTPResponseHead, _ request: HTTPRequest) -> Bool {
        guard let tag = notModified.fields.entityTag else { return false }
        return EntityTag.list(request.fields.values(of: "If-None-Match")).contains { $0.matchesWeakly(tag) }
    }

    /// Whether the question that was sent can only have been about this answer.
    private static func isAbout(_ stored: StoredResponse, _ exchange: ExchangeContext) -> Bool {
        let tags = EntityTag.list(exchange.request.fields.values(of: "If-None-Match"))
        let modified = stored.lastModified == nil ? nil : stored.head.fields["Last-Modified"]
        guard let own = stored.entityTag else {
            // Without a validator it is the one that is meant.
            return exchange.isConditionalOnStored || modified == nil
                || (tags.isEmpty && exchange.request.fields["If-Modified-Since"] == modified)
        }
        guard tags.isEmpty, !exchange.isConditionalOnStored else { return tags.allSatisfy { $0 == own } }
        return modified != nil && exchange.request.fields["If-Modified-Since"] == modified
    }

    /// Whether an answer to HEAD is about the content that is stored. Section 4.3.5.
    static func describes(_ head: HTTPResponseHead, _ stored: StoredResponse) -> Bool {
        guard head.status == stored.head.status else { return false }
        let own = stored.head.fields
        let length = stored.part == nil ? stored.body.count : stored.part?.completeCount
        return ["ETag", "Last-Modified"].allSatisfy { head.fields[$0] == nil || head.fields[$0] == own[$0] }
            && (head.declaredBodyLength.map { $0 == length } ?? true)
    }

    /// A newer part of a content with the fields of the stored part that it does not have itself. Sections 3.2 and 3.4.
    static func joined(
        _ newer: StoredResponse, to stored: StoredResponse, for request: HTTPRequest, _ rules: ResponseCacheRules
    ) -> StoredResponse {
        var joined = newer
        joined.head = StoredHead.updated(
            stored.head, by: newer.head, role: rules.role, receivedAt: newer.responseTime)
        // The terms of the newer head, which a hook may have changed, stay unless the stored head adds to them.
        let names = ["Cache-Control", "Expires", "Pragma", "Last-Modified"] + rules.role.targets
        guard names.contains(where: { joined.head.fields.contains($0) && !newer.head.fields.contains($0) }) else {
            return joined
        }
        joined.terms = Freshness(
            joined.head, to: request, requestTime: newer.requestTime, responseTime: newer.responseTime, rules: rules)
        // The age on arrival is in no field of what is stored.
        joined.terms.initialAge = max(joined.terms.initialAge, newer.terms.initialAge)
        return joined
    }

    /// The stored answer with the fields of a newer head about the same content. Sections 3.2, 4.3.4 and 4.3.5.
    static func freshened(_ stored: StoredResponse, by head: HTTPResponseHead, _ exchange: ExchangeContext)
        -> StoredResponse
    {
        let role = exchange.rules.role
        var fresh = stored
        fresh.head = StoredHead.updated(stored.head, by: head, role: role, receivedAt: exchange.responseTime)
        (fresh.requestTime, fresh.responseTime) = (exchange.requestTime, exchange.responseTime)
        // The age that counts is the newer head's.
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

/// Whether the caller's own copy is as good as what is stored. Source: RFC 9111 section 4.3.2, RFC 9110 section 13.
enum Precondition {
    /// Whether the request's condition says that the caller needs no body.
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

    /// Whether a range may be taken from what is stored: the request makes no condition, or its condition holds.
    /// RFC 9110 section 13.1.5.
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

/// One question to the server, as far as the rules need it.
struct ExchangeContext: Sendable {
    /// As the caller made it, without the cache's own conditions.
    let request: HTTPRequest
    let requestTime: Date
    let responseTime: Date
    let rules: ResponseCacheRules
    /// Whether the request was sent with the conditions of what is stored, not with the caller's alone.
    var isConditionalOnStored = false
}
