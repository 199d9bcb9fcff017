import Alcedo
private import CHTTPServerShim
import AlcedoRuntime
import FoundationEssentials

/// The head of a request, as far as the server reads it.
struct RequestHead: Sendable {
    var method: String
    /// Path and query as they were sent, not decoded; of a target in absolute form they alone.
    var target: String
    /// All values of `Accept`, joined by commas; nil when there is none.
    var accept: String?
    /// All values of `If-None-Match`, joined by commas; nil when there is none.
    var ifNoneMatch: String?
    var hasBody = false

    /// What a target in absolute form has after its host; any other as it is. Source: RFC 9112 section 3.2.2.
    static func originForm(_ target: String) -> String {
        let scheme = target.prefix { $0 != ":" }
        let rest = target[scheme.endIndex...]
        guard ["http", "https"].contains(scheme.lowercased()), rest.hasPrefix("://") else { return target }
        let path = rest.dropFirst(3).drop { $0 != "/" && $0 != "?" }
        return path.hasPrefix("/") ? String(path) : "/\(path)"
    }

    var path: Substring { target.prefix { $0 != "?" } }

    /// What follows the first question mark; empty without one.
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

/// The names and values of a query, decoded. Source: RFC 3986 sections 2.1 and 3.4; a plus sign is a plus sign.
struct QueryItems: Sendable, Equatable {
    struct Item: Sendable, Equatable {
        var name: String
        var value: String
    }

    /// Most items; there are no more parameters than that.
    static let limit = 16
    /// Most bytes of a query.
    static let byteLimit = 8 << 10

    private(set) var items: [Item] = []

    /// - Throws: ``HTTPError`` 400 for escapes that are none, bytes that are no UTF-8, a name that is there twice, and too much.
    init(_ query: some StringProtocol) throws(HTTPError) {
        guard query.utf8.count <= Self.byteLimit else { throw HTTPError(414, "the query is too long") }
        for part in query.split(separator: "&", maxSplits: Self.limit, omittingEmptySubsequences: true) {
            guard items.count < Self.limit else { throw HTTPError(400, "there are too many parameters") }
            let name = part.prefix { $0 != "=" }
            let value = part[name.endIndex...].dropFirst()
            guard let name = Self.decoded(name), let value = Self.decoded(value) else {
                throw HTTPError(400, "the query is not percent-encoded UTF-8")
            }
            guard self[name] == nil else { throw HTTPError(400, "a parameter is given twice") }
            items.append(Item(name: name, value: value))
        }
    }

    subscript(name: String) -> String? {
        items.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// The items without one of them, sorted by name, percent-encoded in one way: what signatures are made of.
    func canonical(without name: String) -> String {
        items.filter { !$0.name.utf8.elementsEqual(name.utf8) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            .map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }
            .joined(separator: "&")
    }

    private static func decoded(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// All bytes but unreserved ones (RFC 3986 section 2.3) as `%` and two large digits.
    static func encoded(_ text: String) -> String {
        text.utf8.percentEncoded(except: \.isUnreserved)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
