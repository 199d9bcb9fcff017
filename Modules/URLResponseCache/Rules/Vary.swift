import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// Which requests an answer is for. Source: RFC 9111 section 4.1.
enum Vary {
    /// Most names that an answer may vary by.
    private static let limit = 32
    /// Fields whose values are lists of tokens with weights, in which neither case nor order matters (RFC 9110 sections
    /// 12.5.2 to 12.5.4).
    private static let weighted: Set = ["accept-charset", "accept-encoding", "accept-language"]
    /// Bytes that mean the same in every value.
    private static let plain = Set("abcdefghijklmnopqrstuvwxyz0123456789-_./*+".utf8)
    /// Fields that are kept as a digest only.
    private static let secret: Set = ["authorization", "cookie", "proxy-authorization"]

    /// The names by which an answer varies, in lower case and sorted; nil when it varies on more than fields: `*`, or
    /// what is no name.
    ///
    /// An answer to a request with credentials that is not marked for everyone also varies by them: one user of a
    /// private cache may have several accounts. A response with a content coding also varies by `Accept-Encoding`:
    /// a transport decodes its body for requests without one, and hands it over as it was sent to the others.
    static func names(of head: HTTPResponseHead, to request: HTTPRequest, role: CacheRole) -> [String]? {
        var names = Set(head.fields.members(of: "Vary"))
        guard names.count <= limit, names.allSatisfy({ $0 != "*" && $0.isToken }) else { return nil }
        if request.hasCredentials, !ResponseDirectives(head.fields, role: role).isShareable {
            names.insert("authorization")
        }
        if head.fields.contains("Content-Encoding") { names.insert("accept-encoding") }
        return names.sorted()
    }

    /// Whether the stored body has the form, decoded or as it was sent, in which a transport would hand it over for the
    /// request. See ``/AlcedoHTTP/HTTPTransport``.
    static func hasForm(_ stored: StoredResponse, for request: HTTPRequest) -> Bool {
        !stored.head.fields.contains("Content-Encoding")
            || stored.varyingFields.contains("Accept-Encoding") == request.fields.contains("Accept-Encoding")
    }

    /// The fields of a request that have these names, normalised, in the order of the names.
    static func fields(_ names: [String], of request: HTTPRequest) -> HTTPFields {
        HTTPFields(
            names.compactMap { name in normalised(name, of: request).map { HTTPFields.Field(name, $0) } })
    }

    /// The part of the key for answers that vary by these names, to requests with these fields: a digest. Two that
    /// share one by chance are told apart by the fields that are stored with the answer. O(length of the fields).
    static func variant(_ names: [String], _ fields: HTTPFields) -> String {
        // Lengths keep two fields apart from one with a line end.
        var text = names.joined(separator: ",") + "\n"
        for field in fields { text += "\(field.name):\(field.value.utf8.count):\(field.value)\n" }
        return String(XXH64.hash(text.utf8Span.span.bytes), radix: 36)
    }

    /// The same for a request.
    static func variant(_ names: [String], of request: HTTPRequest) -> String {
        variant(names, fields(names, of: request))
    }

    /// Two values that mean the same become equal, as far as section 4.1 lets a cache know: several lines are one list,
    /// blanks around commas mean nothing, nor does the case or order of members that have weights.
    private static func normalised(_ name: String, of request: HTTPRequest) -> String? {
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
    /// In thousandths.
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

    /// The heavier first.
    static func < (a: Self, b: Self) -> Bool { (-a.weight, a.name) < (-b.weight, b.name) }
}
