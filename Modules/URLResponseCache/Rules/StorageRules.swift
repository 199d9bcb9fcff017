import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// The rules for storing responses. Source: RFC 9111 section 3.
enum StorageRules {
    /// The result of the rules for one response.
    enum Storability {
        case storable
        /// HTTP does not forbid storing the response, but the cache could never use it.
        case unusable
        /// The response must not be stored, neither by this cache nor by a cache above the transport.
        case forbidden
    }

    /// Returns whether a response to GET may be stored. The rules also apply to a response to POST that is reusable for
    /// GET.
    static func storability(of head: HTTPResponseHead, to request: HTTPRequest, role: CacheRole) -> Storability {
        let directives = ResponseDirectives(head.fields, role: role)
        let control = directives.control
        guard !control.isMalformed, !requestForbidsStoring(request) else { return .forbidden }
        // The content cannot be decoded (RFC 9112 section 6.1).
        guard head.fields.unknownTransferCoding == nil else { return .forbidden }
        if control.contains("must-understand") {
            // Section 5.2.2.3: a cache that understands the status code ignores a `no-store` beside `must-understand`.
            guard StatusRules.isUnderstood(head.status) else { return .forbidden }
        } else if control.contains("no-store") {
            return .forbidden
        }
        if role.isShared {
            if directives.isPrivate { return .forbidden }
            if request.hasCredentials, !directives.isShareable { return .forbidden }
            // HTTP leaves it to the server to mark responses to requests with cookies, but many servers do not.
            let isShareable = control.contains("public") || control.contains("s-maxage")
            if request.fields.contains("Cookie"), !isShareable { return .forbidden }
        }
        guard head.status >= 200, head.status != 304, hasReason(head, directives, role: role) else { return .unusable }
        // Passwords are not written to files, and without them the redirect would lead elsewhere.
        let locations = ["Location", "Content-Location"].flatMap { head.fields.values(of: $0) }
        guard locations.allSatisfy({ $0 == $0.withoutCredentials }) else { return .unusable }
        if head.status == 206 {
            guard let text = head.fields["Content-Range"], ContentRange(text) != nil,
                !head.fields.contains("Content-Encoding"), request.method == .get
            else { return .unusable }
        } else if head.status == 416
            || head.fields.members(of: "Content-Range").contains(where: { ContentRange($0) != nil })
        {
            // The field has no meaning with another status (RFC 9110 section 14.4), but a server that mislabels a part
            // of the content as the whole must not have it stored as the whole. A value that specifies no bytes is
            // harmless. 416 is about one range only.
            return .unusable
        }
        return Vary.names(of: head, to: request, role: role) == nil ? .unusable : .storable
    }

    /// Whether the body of a response keeps a content coding that the transport would decode for the same request
    /// without a range (``/AlcedoHTTP/HTTPTransport``).
    static func keepsContentCoding(_ head: HTTPResponseHead, to request: HTTPRequest) -> Bool {
        head.fields.contains("Content-Encoding") && request.fields.contains("Range")
            && !request.fields.contains("Accept-Encoding")
    }

    /// Whether a response to POST may be used for a later GET. RFC 9110 section 9.3.3.
    static func isReusableForGET(_ head: HTTPResponseHead, to request: HTTPRequest, role: CacheRole, now: Date) -> Bool
    {
        guard request.method == .post, head.status == 200, let location = head.fields["Content-Location"],
            let url = URL(string: location, relativeTo: request.url), ResourceKey(normal: url) == request.resourceKey
        else { return false }
        let directives = ResponseDirectives(head.fields, role: role)
        return directives.explicitLifetime(date: now, receivedAt: now) != nil
    }

    /// Whether the request forbids storing its response. RFC 9111 section 5.2.1.5.
    static func requestForbidsStoring(_ request: HTTPRequest) -> Bool {
        guard request.allowsStoring else { return true }
        return request.fields.contains("Cache-Control") && CacheControl(request.fields).forbidsStoring
    }

    /// Whether the response has one of the properties that allow storage at all. Section 3, last item.
    private static func hasReason(_ head: HTTPResponseHead, _ directives: ResponseDirectives, role: CacheRole) -> Bool {
        let control = directives.control
        return StatusRules.isHeuristicallyCacheable(head.status) || control.contains("public")
            || control.contains("max-age") || (!directives.isTargeted && head.fields.contains("Expires"))
            || (role.isShared ? control.contains("s-maxage") : control.contains("private"))
    }
}

/// The properties of status codes. Source: RFC 9110 section 15, RFC 9111 section 3.
enum StatusRules {
    /// The status codes whose caching requirements this cache implements.
    private static let understood: Set = [
        200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 410, 414, 500, 501, 502, 503, 504,
    ]
    /// The heuristically cacheable status codes. RFC 9110 section 15.1.
    private static let heuristic: Set = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    static func isUnderstood(_ status: Int) -> Bool { understood.contains(status) }

    /// Whether a response with this code and without explicit directives may be stored and have a heuristic lifetime.
    static func isHeuristicallyCacheable(_ status: Int) -> Bool { heuristic.contains(status) }

    /// Whether the code reports a temporary failure of the server, and nothing about the resource.
    static func isTransientFailure(_ status: Int) -> Bool { status >= 500 || [408, 425, 429].contains(status) }

    /// Whether `stale-if-error` applies to the code. RFC 5861 section 4.
    static func isStaleIfError(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }
}

/// The preparation of heads for storage. Source: RFC 9111 section 3.1.
enum StoredHead {
    /// The fields that are not stored: those of one connection, those for proxies, and `Age`, which is calculated for
    /// each use.
    private static let excepted: Set = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "age",
    ]
    /// The fields that set cookies. They do not inhibit caching (section 7.3). A private cache stores them like any
    /// other field; a shared cache omits them, so that one user's cookie never reaches another user.
    private static let cookieFields: Set = ["set-cookie", "set-cookie2"]
    /// The fields that describe the stored bytes, which a response without these bytes must not change (section 3.2).
    private static let bodyFields: Set = ["content-length", "content-encoding", "content-range"]

    /// Returns the head with the fields that may be stored, with a date (RFC 9110 section 6.6.1), and without
    /// credentials in the URL.
    static func make(_ head: HTTPResponseHead, role: CacheRole, receivedAt: Date) -> HTTPResponseHead {
        var head = head
        head.url = head.url.withoutCredentials
        head.fields = storable(head.fields, role: role)
        if head.fields.date("Date", now: receivedAt) == nil { head.fields["Date"] = HTTPDate.format(receivedAt) }
        return head
    }

    /// Returns the stored head, updated with the fields of a newer response about the same content. Section 3.2.
    static func updated(
        _ stored: HTTPResponseHead, by newer: HTTPResponseHead, role: CacheRole, receivedAt: Date
    ) -> HTTPResponseHead {
        let new = storable(newer.fields, role: role).removing(bodyFields)
        // The date of the first response does not apply to the newer one.
        let replaced = Set(new.fields.map { $0.name.lowercased() }).union(["date"])
        let fields = HTTPFields(stored.fields.removing(replaced).fields + new.fields)
        let head = HTTPResponseHead(url: stored.url, status: stored.status, fields: fields)
        return make(head, role: role, receivedAt: receivedAt)
    }

    private static func storable(_ fields: HTTPFields, role: CacheRole) -> HTTPFields {
        let limited = ResponseDirectives(fields, role: role).limitedFields
        // A field for all recipients is not a field of the connection, even if `Connection` names it (RFC 9110 section
        // 7.6.1). Without `Vary`, for example, a response for some requests would be served for all.
        let hop = Set(fields.members(of: "Connection")).subtracting(ResponseDirectives.representationFields)
        return fields.removing(excepted.union(hop).union(limited).union(role.isShared ? cookieFields : []))
    }
}
