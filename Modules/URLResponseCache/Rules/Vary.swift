import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// The selection of stored responses by the fields of a request. Source: RFC 9111 section 4.1.
enum Vary {
    /// Returns the names of the fields by which a response varies, in lower case and sorted. Returns nil if it varies
    /// by more than fields (`*`), by more than 32 fields, or by an invalid name.
    ///
    /// A response to a request with credentials or a cookie also varies by them unless it is marked for all users: the
    /// user of a private cache may have several accounts. The same applies to the account that a caller names, and to a
    /// `private` response with the caller's own fields, by which servers often tell users apart without naming them in
    /// `Vary`. A response with a content coding also varies by
    /// `Accept-Encoding`: a transport decodes the body for requests without this field, and passes it on as sent for
    /// requests with it.
    static func names(of head: HTTPResponseHead, to request: HTTPRequest, role: CacheRole) -> [String]? {
        var names = Set(head.fields.members(of: "Vary"))
        guard names.count <= VaryingFields.limit, names.allSatisfy({ $0 != "*" && $0.isToken }) else { return nil }
        let hasCookie = request.fields.contains("Cookie")
        if request.hasCredentials || hasCookie || request.audience != nil {
            let directives = ResponseDirectives(head.fields, role: role)
            if !directives.isForAllUsers {
                if request.hasCredentials { names.insert("authorization") }
                if hasCookie { names.insert("cookie") }
                if request.audience?.identifier != nil { names.insert(HTTPRequest.Audience.identifierName) }
                if directives.isPrivate, request.audience?.ownFields != nil {
                    names.insert(HTTPRequest.Audience.ownFieldsName)
                }
            }
        }
        if head.fields.contains("Content-Encoding") { names.insert("accept-encoding") }
        return names.sorted()
    }

    /// Whether a stored response is for one user, and the request has credentials, an account or own fields that may
    /// tell another user. The response was then stored for a request without them.
    static func isForOthers(_ stored: StoredResponse, of request: HTTPRequest, role: CacheRole) -> Bool {
        let hasCookie = request.fields.contains("Cookie")
        guard request.audience != nil || request.hasCredentials || hasCookie,
            ResponseDirectives(stored.head.fields, role: role).isPrivate
        else { return false }
        let fields = stored.varyingFields
        return request.hasCredentials && !fields.contains("authorization") || hasCookie && !fields.contains("cookie")
            || request.audience?.identifier != nil && !fields.contains(HTTPRequest.Audience.identifierName)
            || request.audience?.ownFields != nil && !fields.contains(HTTPRequest.Audience.ownFieldsName)
    }

    /// Whether the stored body has the form, decoded or as sent, in which a transport would return it for the request.
    /// See ``/AlcedoHTTP/HTTPTransport``.
    static func hasForm(_ stored: StoredResponse, for request: HTTPRequest) -> Bool {
        !stored.head.fields.contains("Content-Encoding")
            || stored.varyingFields.contains("Accept-Encoding") == request.fields.contains("Accept-Encoding")
    }

    /// Returns the fields of a request with these names, in the order of the names. The values are normalized, and
    /// digests of them unless the field states preferences: an entry must not reveal a key or a token.
    static func fields(_ names: [String], of request: HTTPRequest) -> HTTPFields {
        HTTPFields(
            names.compactMap { name in
                FieldNormalization.storedValue(of: name, in: request).map { HTTPFields.Field(name, $0) }
            })
    }

    /// Returns a digest of the fields that select a variant, for use in its key. The stored fields distinguish two
    /// responses whose digests collide. O(length of the fields).
    static func variant(_ names: [String], _ fields: HTTPFields) -> String {
        // The length distinguishes two fields from one whose value has a line break.
        var text = names.joined(separator: ",") + "\n"
        for field in fields { text += "\(field.name):\(field.value.utf8.count):\(field.value)\n" }
        return String(XXH64.hash(text.utf8Span.span.bytes), radix: 36)
    }

    /// Returns the variant part of the key for a request.
    static func variant(_ names: [String], of request: HTTPRequest) -> String {
        variant(names, fields(names, of: request))
    }
}
