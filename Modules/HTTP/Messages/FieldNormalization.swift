import AlcedoRuntime
package import FoundationEssentials

/// Normal forms of field values, for the comparison of requests. Source: RFC 9111 section 4.1.
package enum FieldNormalization {
    /// Fields whose values are lists of tokens with weights, where neither case nor order matters (RFC 9110 sections
    /// 12.5.2 to 12.5.4).
    private static let weighted: Set = ["accept-charset", "accept-encoding", "accept-language"]
    /// The bytes that need no normalization in any value.
    private static let plain = Set("abcdefghijklmnopqrstuvwxyz0123456789-_./*+".utf8)
    /// Fields whose values are no lists, and mean the same only if they are equal.
    private static let opaque: Set = ["authorization", "cookie", "proxy-authorization"]
    /// Fields that state preferences, and therefore hold no secrets (RFC 9110 section 12.5). Any other field may: a
    /// server can take a key or a token from a field of any name.
    private static let preferences: Set = ["accept", "accept-charset", "accept-encoding", "accept-language"]

    /// Returns the normalized value of a field; nil if the request does not have it.
    ///
    /// Values with the same meaning become equal, as far as section 4.1 allows: several lines become one list, and
    /// blanks around commas are removed. In lists with weights, the case and the order of the members do not matter.
    ///
    /// - Parameters:
    ///   - name: The name of the field in lower case.
    ///   - request: The request.
    package static func value(of name: String, in request: HTTPRequest) -> String? {
        if name == HTTPRequest.Audience.identifierName { return request.audience?.identifier }
        if name == HTTPRequest.Audience.ownFieldsName { return request.audience?.ownFields }
        guard let value = name == "authorization" ? request.credentials : request.fields[name] else { return nil }
        if opaque.contains(name) || value.utf8.allSatisfy(plain.contains) { return value }
        let members = QuotedList.members(of: value)
        guard weighted.contains(name) else { return members.joined(separator: ",") }
        return members.map(WeightedMember.init).sorted().map(\.text).joined(separator: ",")
    }

    /// Returns the normalized value of a field in the form in which a cache keeps it: unchanged if the field states
    /// preferences, and otherwise as a digest. The digest is the same in every process. Returns nil if the request does
    /// not have the field, whose name is in lower case.
    package static func storedValue(of name: String, in request: HTTPRequest) -> String? {
        let value = value(of: name, in: request)
        return isPreference(name) ? value : value.map { SHA256.hexDigest(of: $0) }
    }

    /// Whether a field, whose name is in lower case, states preferences and does not tell users apart.
    package static func isPreference(_ name: String) -> Bool { preferences.contains(name) }
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

extension HTTPRequest {
    /// Whether the request has credentials, in a field or in the URL.
    package var hasCredentials: Bool { !fields.values(of: "Authorization").isEmpty || url.hasCredentials }

    /// The credentials as the server receives them: those of the field, or those of the URL in the same form (RFC 7617
    /// section 2). The value is nil if the request has none.
    package var credentials: String? {
        if let field = fields["Authorization"] { return field }
        guard url.hasCredentials else { return nil }
        let pair = "\(url.user(percentEncoded: false) ?? ""):\(url.password(percentEncoded: false) ?? "")"
        return "Basic " + Data(pair.utf8).base64EncodedString()
    }
}

extension URL {
    fileprivate var hasCredentials: Bool { user != nil || password != nil }

    /// The URL without the credentials in it, so that they are not stored.
    package var withoutCredentials: URL {
        guard hasCredentials, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        (parts.user, parts.password) = (nil, nil)
        return parts.url ?? self
    }
}
