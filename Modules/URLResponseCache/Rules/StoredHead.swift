import AlcedoCore
import FoundationEssentials

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
        let hop = Set(fields.members(of: "Connection")).subtracting(ResponseDirectives.meaningFields)
        return fields.removing(excepted.union(hop).union(limited).union(role.isShared ? cookieFields : []))
    }
}
