import Alcedo
import AlcedoHTTP
import AlcedoLibc
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
    /// The minor version of HTTP/1.
    var minorVersion = 1
    /// Whether the client allows another request on the connection.
    var keepsConnection = true

    /// Returns the path and query of a target in absolute form, or any other target unchanged. Source: RFC 9112 section
    /// 3.2.2.
    static func originForm(_ target: String) -> String {
        guard let authority = authority(of: target) else { return target }
        let path = target[authority.endIndex...]
        return path.hasPrefix("/") ? String(path) : "/\(path)"
    }

    /// Returns the authority of a target in absolute form; nil for another form.
    private static func authority(of target: String) -> Substring? {
        let scheme = target.prefix { $0 != ":" }
        let rest = target[scheme.endIndex...]
        guard ["http", "https"].contains(scheme.lowercased()), rest.hasPrefix("://") else { return nil }
        return rest.dropFirst(3).prefix { $0 != "/" && $0 != "?" }
    }

    var path: Substring { target.prefix { $0 != "?" } }

    /// The text after the first question mark; empty without one.
    var query: Substring { target[path.endIndex...].dropFirst() }

    var isHead: Bool { method == "HEAD" }
}

extension RequestHead {
    /// Parses the lines of a head, without their line ends. Other bytes than those of RFC 9112 are not tolerated: a
    /// proxy could read such a head in another way, and take what follows it for another request.
    ///
    /// - Throws: ``HTTPError`` 400 for an invalid head, 505 for another major version of HTTP.
    init(lines: [ArraySlice<UInt8>]) throws(HTTPError) {
        var texts = lines.lazy.map { String(decoding: $0, as: UTF8.self) }.makeIterator()
        let words = (texts.next() ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[0].isToken else { throw .malformed }
        minorVersion = try Self.minorVersion(words[2])
        let target = String(words[1])
        guard target.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
            throw .malformed
        }
        (method, self.target) = (String(words[0]), Self.originForm(target))
        // A target in asterisk or authority form is for proxies and whole servers.
        guard self.target.hasPrefix("/") else { throw .malformed }
        if let authority = Self.authority(of: target) {
            guard Self.isAuthority(authority) else { throw .malformed }
        }

        var (hostCount, lengthCount, isChunked) = (0, 0, false)
        keepsConnection = minorVersion > 0
        while let line = texts.next() {
            // A blank before the colon or at the start, where a line of the previous field would continue, is not in a
            // token (sections 5.1 and 5.2).
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")), line[..<colon].isToken else {
                throw .malformed
            }
            let value = line[line.utf8.index(after: colon)...].trimmingBlanks
            switch line[..<colon].lowercased() {
            case "host":
                hostCount += 1
                guard Self.isAuthority(value) else { throw .malformed }
            case "content-length":
                lengthCount += 1
                guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .malformed }
                hasBody = value.contains { $0 != "0" }
            case "transfer-encoding": isChunked = true
            case "connection":
                for option in value.split(separator: ",").map({ $0.trimmingBlanks.lowercased() }) {
                    if option == "close" { keepsConnection = false }
                    if option == "keep-alive", minorVersion == 0 { keepsConnection = true }
                }
            case "accept": accept = Self.joined(accept, value)
            case "if-none-match": ifNoneMatch = Self.joined(ifNoneMatch, value)
            default: break
            }
        }
        // Sections 3.2, 6.1 and 6.3. Even equal lengths are rejected, because they show that a part of the way from the
        // client did not understand them.
        guard hostCount == 1 || (hostCount == 0 && minorVersion == 0), lengthCount <= 1,
            !isChunked || (lengthCount == 0 && minorVersion > 0)
        else { throw .malformed }
        hasBody = hasBody || isChunked
    }

    private static func minorVersion(_ text: Substring) throws(HTTPError) -> Int {
        switch text {
        case "HTTP/1.1": return 1
        case "HTTP/1.0": return 0
        default:
            let digits = text.utf8.dropFirst(5)
            guard text.hasPrefix("HTTP/"), digits.count == 3, digits.dropFirst().first == UInt8(ascii: "."),
                let major = digits.first, (0x30...0x39).contains(major), let minor = digits.last,
                (0x30...0x39).contains(minor), major != UInt8(ascii: "1")
            else { throw .malformed }
            throw HTTPError(505, "the version of HTTP must be 1.0 or 1.1")
        }
    }

    /// Whether the text is a host with an optional port. Source: RFC 3986 sections 3.2.2 and 3.2.3.
    private static func isAuthority(_ text: Substring) -> Bool {
        let isLiteral = text.hasPrefix("[")
        let host = isLiteral ? text.prefix { $0 != "]" } : text.prefix { $0 != ":" }
        var port = text[host.endIndex...]
        if isLiteral {
            var address = in6_addr()
            guard port.hasPrefix("]"), inet_pton(AF_INET6, String(host.dropFirst()), &address) == 1 else {
                return false
            }
            port = port.dropFirst()
        } else {
            guard !host.isEmpty, host.utf8.percentDecoded() != nil,
                host.utf8.allSatisfy({ $0.isUnreserved || "%!$&'()*+,;=".utf8.contains($0) })
            else { return false }
        }
        let digits = port.dropFirst().utf8
        return port.isEmpty
            || port.hasPrefix(":") && digits.allSatisfy { (0x30...0x39).contains($0) }
                && (digits.isEmpty || UInt16(port.dropFirst()) != nil)
    }

    private static func joined(_ values: String?, _ value: Substring) -> String {
        values.map { "\($0), \(value)" } ?? String(value)
    }
}

/// The bytes of a connection that have arrived and do not belong to an earlier request.
struct ReceivedHeads {
    /// The maximum number of bytes, and so the maximum length of a head.
    static let limit = 32 << 10

    private var bytes: [UInt8] = []
    /// The number of bytes that were searched for the end of the head.
    private var checkedCount = 0
    private var lineStart = 0
    private var hasEmptyLine = false

    var isEmpty: Bool { bytes.isEmpty }

    /// The number of bytes that may be appended.
    var space: Int { Self.limit - bytes.count }

    mutating func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

    /// Removes and returns the next head; nil if it is not complete.
    ///
    /// - Throws: ``HTTPError`` 400 for an invalid head, also before it is complete; 414 or 431 for a head that is too
    ///   long; 505 for another major version of HTTP.
    mutating func next() throws(HTTPError) -> RequestHead? {
        while checkedCount < bytes.count {
            let byte = bytes[checkedCount]
            let followsReturn = checkedCount > 0 && bytes[checkedCount - 1] == UInt8(ascii: "\r")
            // A line ends with both bytes of CRLF. One of them alone, NUL and other control characters are read
            // differently by different servers.
            guard followsReturn == (byte == UInt8(ascii: "\n")),
                byte >= 0x20 && byte != 0x7F || [9, 10, 13].contains(byte)
            else { throw .malformed }
            checkedCount += 1
            guard byte == UInt8(ascii: "\n") else { continue }
            guard checkedCount - lineStart == 2 else {
                lineStart = checkedCount
                continue
            }
            let lines = bytes[..<max(0, lineStart - 2)]
            bytes.removeFirst(checkedCount)
            (checkedCount, lineStart) = (0, 0)
            if !lines.isEmpty {
                hasEmptyLine = false
                return try RequestHead(lines: lines.split(separator: UInt8(ascii: "\n")).map(Self.withoutReturn))
            }
            // Some clients send an empty line after a request (RFC 9112 section 2.2).
            guard !hasEmptyLine else { throw .malformed }
            hasEmptyLine = true
        }
        guard space == 0 else { return nil }
        throw lineStart == 0 ? HTTPError(414, "the target is too long") : HTTPError(431, "the head is too long")
    }

    private static func withoutReturn(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
}

/// The decoded names and values of a query. A plus sign is not decoded to a space. Source: RFC 3986 sections 2.1 and
/// 3.4.
struct QueryItems: Sendable, Equatable {
    struct Item: Sendable, Equatable {
        var name: String
        var value: String
        /// Whether the query has the name and the value without percent-encoding.
        var isPlain: Bool
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
            items.append(Item(name: name, value: value, isPlain: !part.utf8.contains(UInt8(ascii: "%"))))
        }
    }

    subscript(name: String) -> String? { item(name)?.value }

    func item(_ name: String) -> Item? { items.first { $0.name.utf8.elementsEqual(name.utf8) } }

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
