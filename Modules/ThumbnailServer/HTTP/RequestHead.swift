import Alcedo
private import CHTTPServerShim
import AlcedoRuntime
import FoundationEssentials

/// The parts of a request's head that the server reads.
struct RequestHead: Sendable {
    var method: String
    /// The path and query, not decoded. A target in absolute form is reduced to its path and query.
    var target: String
    /// The values of `Accept`, joined by commas; nil if the field is absent.
    var accept: String?
    /// The values of `If-None-Match`, joined by commas; nil if the field is absent.
    var ifNoneMatch: String?
    var hasBody = false

    /// Returns the path and query of a target in absolute form, or any other target unchanged. Source: RFC 9112 section
    /// 3.2.2.
    static func originForm(_ target: String) -> String {
        let scheme = target.prefix { $0 != ":" }
        let rest = target[scheme.endIndex...]
        guard ["http", "https"].contains(scheme.lowercased()), rest.hasPrefix("://") else { return target }
        let path = rest.dropFirst(3).drop { $0 != "/" && $0 != "?" }
        return path.hasPrefix("/") ? String(path) : "/\(path)"
    }

    var path: Substring { target.prefix { $0 != "?" } }

    /// The text after the first question mark; empty without one.
    var query: Substring { target[path.endIndex...].dropFirst() }

    var isHead: Bool { method == "HEAD" }
}

extension RequestHead {
    init(_ request: OpaquePointer) {
        self.init(
            method: String(cString: alcedo_http_method(request)),
            target: Self.originForm(String(cString: alcedo_http_target(request))),
            accept: Self.value(of: "Accept", request), ifNoneMatch: Self.value(of: "If-None-Match", request),
            hasBody: alcedo_http_has_body(request) != 0)
    }

    private static func value(of name: String, _ request: OpaquePointer) -> String? {
        var lines: [String] = []
        withUnsafeMutablePointer(to: &lines) { lines in
            alcedo_http_each_value(request, name, lines) { context, value in
                context?.assumingMemoryBound(to: [String].self).pointee.append(String(cString: value))
            }
        }
        return lines.isEmpty ? nil : lines.joined(separator: ", ")
    }
}

/// The decoded names and values of a query. A plus sign is not decoded to a space. Source: RFC 3986 sections 2.1 and
/// 3.4.
struct QueryItems: Sendable, Equatable {
    struct Item: Sendable, Equatable {
        var name: String
        var value: String
    }

    /// The maximum number of items, more than the number of existing parameters.
    static let limit = 16
    /// The maximum number of bytes in a query.
    static let byteLimit = 8 << 10

    private(set) var items: [Item] = []

    /// Creates the items of a query.
    ///
    /// - Throws: ``HTTPError`` 414 for a query that is too long. ``HTTPError`` 400 for invalid percent-encoding, bytes
    ///   that are not UTF-8, a repeated name, and too many items.
    init(_ query: some StringProtocol) throws(HTTPError) {
        guard query.utf8.count <= Self.byteLimit else { throw HTTPError(414, "the query is too long") }
        for part in query.split(separator: "&", maxSplits: Self.limit, omittingEmptySubsequences: true) {
            guard items.count < Self.limit else { throw HTTPError(400, "the query has too many parameters") }
            let name = part.prefix { $0 != "=" }
            let value = part[name.endIndex...].dropFirst()
            guard let name = Self.decoded(name), let value = Self.decoded(value) else {
                throw HTTPError(400, "the query is not valid percent-encoded UTF-8")
            }
            guard self[name] == nil else { throw HTTPError(400, "a parameter is repeated") }
            items.append(Item(name: name, value: value))
        }
    }

    subscript(name: String) -> String? {
        items.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// Returns the items except one, sorted by name and percent-encoded in one form. Signatures are computed from this
    /// text.
    func canonical(without name: String) -> String {
        items.filter { !$0.name.utf8.elementsEqual(name.utf8) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            .map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }
            .joined(separator: "&")
    }

    private static func decoded(_ text: some StringProtocol) -> String? {
        text.utf8.percentDecoded().flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Returns the text with every byte percent-encoded in uppercase hexadecimal, except unreserved characters (RFC
    /// 3986 section 2.3).
    static func encoded(_ text: String) -> String {
        text.utf8.percentEncoded(except: \.isUnreserved)
    }
}
