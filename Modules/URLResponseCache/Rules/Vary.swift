import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// The selection of stored responses by the fields of a request. Source: RFC 9111 section 4.1.
enum Vary {
    /// The maximum number of field names in `Vary`.
    private static let limit = 32
    /// Fields whose values are lists of tokens with weights, where neither case nor order matters (RFC 9110 sections
    /// 12.5.2 to 12.5.4).
    private static let weighted: Set = ["accept-charset", "accept-encoding", "accept-language"]
    /// The bytes that need no normalization in any value.
    private static let plain = Set("abcdefghijklmnopqrstuvwxyz0123456789-_./*+".utf8)
    /// Fields of which only a digest is kept.
    private static let secret: Set = ["authorization", "cookie", "proxy-authorization"]

    /// Returns the names of the fields by which a response varies, in lower case and sorted. Returns nil if it varies
    /// by more than fields (`*`), by more than 32 fields, or by an invalid name.
    ///
    /// A response to a request with credentials also varies by them unless it is marked for all users: the user of a
    /// private cache may have several accounts. A response with a content coding also varies by `Accept-Encoding`: a
    /// transport decodes the body for requests without this field, and passes it on as sent for requests with it.
    static func names(of head: HTTPResponseHead, to request: HTTPRequest, role: CacheRole) -> [String]? {
        var names = Set(head.fields.members(of: "Vary"))
        guard names.count <= limit, names.allSatisfy({ $0 != "*" && $0.isToken }) else { return nil }
        if request.hasCredentials, !ResponseDirectives(head.fields, role: role).isShareable {
            names.insert("authorization")
        }
        if head.fields.contains("Content-Encoding") { names.insert("accept-encoding") }
        return names.sorted()
    }

    /// Whether the stored body has the form, decoded or as sent, in which a transport would return it for the request.
    /// See ``/AlcedoHTTP/HTTPTransport``.
    static func hasForm(_ stored: StoredResponse, for request: HTTPRequest) -> Bool {
        !stored.head.fields.contains("Content-Encoding")
            || stored.varyingFields.contains("Accept-Encoding") == request.fields.contains("Accept-Encoding")
    }

    /// Returns the fields of a request with these names, normalized, in the order of the names.
    static func fields(_ names: [String], of request: HTTPRequest) -> HTTPFields {
        HTTPFields(
            names.compactMap { name in normalized(name, of: request).map { HTTPFields.Field(name, $0) } })
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

    /// Returns the normalized value of a field; nil if the request does not have it.
    ///
    /// Values with the same meaning become equal, as far as section 4.1 allows: several lines become one list, and
    /// blanks around commas are removed. In lists with weights, the case and the order of the members do not matter. A
    /// field with credentials or cookies is replaced by a digest.
    private static func normalized(_ name: String, of request: HTTPRequest) -> String? {
        guard let value = name == "authorization" ? request.credentials : request.fields[name] else { return nil }
        if value.utf8.allSatisfy(plain.contains), !secret.contains(name) { return value }
        if secret.contains(name) { return SHA256.hexDigest(of: value) }
        let members = QuotedList.members(of: value)
        guard weighted.contains(name) else { return members.joined(separator: ",") }
        return members.map(WeightedMember.init).sorted().map(\.text).joined(separator: ",")
    }
}

/// A member of a list such as `Accept-Language`, with its weight. Source: RFC 9110 section 12.4.2.
private struct WeightedMember: Comparable {
    private let name: String
    /// The weight in thousandths.
    private let weight: Int

    init(_ text: Substring) {
        let parts = text.lowercased().split(separator: ";").map { String($0.trimmingBlanks) }
        let last = parts.last ?? ""
        if parts.count > 1, last.hasPrefix("q="), let number = Double(last.dropFirst(2)), (0...1).contains(number) {
            weight = Int((number * 1_000).rounded())
            name = parts.dropLast().joined(separator: ";")
        } else {
            weight = 1_000
            name = parts.joined(separator: ";")
        }
    }

    var text: String { weight == 1_000 ? name : "\(name);q=\(weight)" }

    /// Orders members by descending weight, then by name.
    static func < (a: Self, b: Self) -> Bool { (-a.weight, a.name) < (-b.weight, b.name) }
}
