import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// What may be stored. Source: RFC 9111 section 3.
enum StorageRules {
    /// Whether a response may be stored.
    enum Storability {
        case storable
        /// The response may be stored, but could never be used.
        case unusable
        /// Neither this cache nor another may store the response.
        case forbidden
    }

    /// Returns whether a response to GET may be stored.
    static func storability(of head: HTTPResponseHead, to request: HTTPRequest, role: CacheRole) -> Storability {
        let directives = ResponseDirectives(head.fields, role: role)
        let control = directives.control
        guard !control.isMalformed, !requestForbidsStoring(request) else { return .forbidden }
        // Nobody knows what the content is (RFC 9112 section 6.1).
        guard head.fields.unknownTransferCoding == nil else { return .forbidden }
        if control.contains("must-understand") {
            // Section 5.2.2.3: whoever understands the code ignores the no-store beside it.
            guard StatusRules.isUnderstood(head.status) else { return .forbidden }
        } else if control.contains("no-store") {
            return .forbidden
        }
        if role.isShared {
            if directives.isPrivate { return .forbidden }
            if request.hasCredentials, !directives.isShareable { return .forbidden }
            // HTTP leaves cookies to the server's care; many servers do not take it.
            let isShareable = control.contains("public") || control.contains("s-maxage")
            if request.fields.contains("Cookie"), !isShareable { return .forbidden }
        }
        guard head.status >= 200, head.status != 304, hasReason(head, directives, role: role) else { return .unusable }
        if head.status == 206 {
            guard let text = head.fields["Content-Range"], ContentRange(text) != nil,
                !head.fields.contains("Content-Encoding"), request.method == .get
            else { return .unusable }
        } else if head.status == 416
            || head.fields.members(of: "Content-Range").contains(where: { ContentRange($0) != nil })
        {
            // The field has no meaning beside another status (RFC 9110 section 14.4), but a server that calls a part of
            // the content the whole must not have it stored as that. A value that names no bytes is a field like
            // others. 416 is about one range alone.
            return .unusable
        }
        return Vary.names(of: head, to: request, role: role) == nil ? .unusable : .storable
    }

    /// Whether a body has another form than those for requests that differ only in their range: a transport decodes no
    /// body for a request with a range (``/AlcedoHTTP/HTTPTransport``).
    static func keepsContentCoding(_ head: HTTPResponseHead, to request: HTTPRequest) -> Bool {
        head.fields.contains("Content-Encoding") && request.fields.contains("Range")
            && !request.fields.contains("Accept-Encoding")
    }

    /// Whether an answer to POST may answer a later GET. RFC 9110 section 9.3.3.
    static func isReusableForGET(_ head: HTTPResponseHead, to request: HTTPRequest, role: CacheRole, now: Date) -> Bool
    {
        guard request.method == .post, head.status == 200, let location = head.fields["Content-Location"],
            let url = URL(string: location, relativeTo: request.url), ResourceKey(normal: url) == request.resourceKey
        else { return false }
        let directives = ResponseDirectives(head.fields, role: role)
        return directives.explicitLifetime(date: now, receivedAt: now) != nil
    }

    /// RFC 9111 section 5.2.1.5.
    static func requestForbidsStoring(_ request: HTTPRequest) -> Bool {
        guard request.allowsStoring else { return true }
        return request.fields.contains("Cache-Control") && CacheControl(request.fields).forbidsStoring
    }

    /// Whether one of the reasons is there for which an answer may be stored at all. Section 3, last item.
    private static func hasReason(_ head: HTTPResponseHead, _ directives: ResponseDirectives, role: CacheRole) -> Bool {
        let control = directives.control
        return StatusRules.isHeuristicallyCacheable(head.status) || control.contains("public")
            || control.contains("max-age") || (!directives.isTargeted && head.fields.contains("Expires"))
            || (role.isShared ? control.contains("s-maxage") : control.contains("private"))
    }
}

/// What is known of status codes. Source: RFC 9110 section 15, RFC 9111 section 3.
enum StatusRules {
    /// The codes whose rules for caching this cache follows.
    private static let understood: Set = [
        200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 410, 414, 500, 501, 502, 503, 504,
    ]
    /// RFC 9110 section 15.1.
    private static let heuristic: Set = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    static func isUnderstood(_ status: Int) -> Bool { understood.contains(status) }

    /// Whether an answer with this code may be stored, and its lifetime guessed, when it says nothing of either.
    static func isHeuristicallyCacheable(_ status: Int) -> Bool { heuristic.contains(status) }

    /// Whether the code says that the server has no answer now, and nothing about the resource.
    static func isTransientFailure(_ status: Int) -> Bool { status >= 500 || [408, 425, 429].contains(status) }

    /// RFC 5861 section 4.
    static func isStaleIfError(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }
}

/// Makes heads ready to be stored. Source: RFC 9111 section 3.1.
enum StoredHead {
    /// The fields of one connection, those that speak to a proxy, and the age, of which each use has its own.
    private static let excepted: Set = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "age",
    ]
    /// The fields that set cookies. They do not inhibit caching (section 7.3). A private cache stores them like any other
    /// field; a shared cache leaves them out, so that one user's cookie never reaches another user.
    private static let cookieFields: Set = ["set-cookie", "set-cookie2"]
    /// Fields that describe the stored bytes, and that an answer without bytes must not change (section 3.2).
    private static let bodyFields: Set = ["content-length", "content-encoding", "content-range"]

    /// The head with the fields that may be stored, and with a date (RFC 9110 section 6.6.1).
    static func make(_ head: HTTPResponseHead, role: CacheRole, receivedAt: Date) -> HTTPResponseHead {
        var head = head
        head.url = head.url.withoutCredentials
        head.fields = storable(head.fields, role: role)
        if head.fields.date("Date", now: receivedAt) == nil { head.fields["Date"] = HTTPDate.format(receivedAt) }
        return head
    }

    /// The stored head with the fields of a newer answer about the same content in the place of its own. Section 3.2.
    static func updated(
        _ stored: HTTPResponseHead, by newer: HTTPResponseHead, role: CacheRole, receivedAt: Date
    ) -> HTTPResponseHead {
        let new = storable(newer.fields, role: role).removing(bodyFields)
        // The date of the first answer says nothing about this one.
        let replaced = Set(new.fields.map { $0.name.lowercased() }).union(["date"])
        let fields = HTTPFields(stored.fields.removing(replaced).fields + new.fields)
        let head = HTTPResponseHead(url: stored.url, status: stored.status, fields: fields)
        return make(head, role: role, receivedAt: receivedAt)
    }

    private static func storable(_ fields: HTTPFields, role: CacheRole) -> HTTPFields {
        let limited = ResponseDirectives(fields, role: role).limitedFields
        // A field that is for all who get the content is none of the connection's (RFC 9110 section 7.6.1): without
        // Vary, say, an answer for some would be one for everybody.
        let hop = Set(fields.members(of: "Connection")).subtracting(ResponseDirectives.representationFields)
        return fields.removing(excepted.union(hop).union(limited).union(role.isShared ? cookieFields : []))
    }
}
