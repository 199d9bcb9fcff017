import AlcedoRuntime

/// An `http` or `https` URL, parsed as browsers parse it.
///
/// `URL(string:)` differs from browsers where it matters: it escapes the escapes of a text that also contains other
/// characters, so `/my%20file 2.png` becomes `/my%2520file%202.png`, and it refuses references such as `12:30.png`.
///
/// The text of a value is always valid by RFC 3986. It differs from the URL Standard of the WHATWG in the following:
///
/// - A percent sign that is not part of an escape becomes `%25`. Characters that RFC 3986 does not allow, such as
///   `[ ] ^ |` in paths and `{ }` in queries, are escaped. Browsers send both as they are, and servers read both forms
///   in the same way.
/// - A host name has only letters, digits, `-`, `.`, `_` and `~`. Browsers accept more characters, and fail when they
///   look up the name.
/// - If the process has no libidn2, a host name outside of ASCII stays percent-encoded, and Punycode is not checked.
///
/// `urls.json` of the tests has a row for each kind of URL, and the reason of each difference.
///
/// Source: URL Standard (WHATWG), sections 3 and 4.
package struct WebURL: Equatable, Sendable {
    /// The scheme, `http` or `https`.
    package private(set) var scheme: String
    /// The user information with its `@`; empty if there is none.
    private var credentials = ""
    /// The host in lowercase. An IPv6 address has brackets.
    package private(set) var host = ""
    /// The port; nil for the scheme's own.
    package private(set) var port: Int?
    /// The segments of the path, percent-encoded. Not empty.
    private var path: [String] = []
    /// The percent-encoded query; nil without a question mark.
    private var query: String?
    private var fragment: String?

    /// Parses the bytes of a URL, or of a reference that is relative to `base`. Bytes above ASCII are usually UTF-8.
    ///
    /// Returns nil if the result has another scheme than `http` and `https`, has no valid host or has no valid port.
    package init?(_ bytes: some Sequence<UInt8>, relativeTo base: WebURL? = nil) {
        // The standard removes control characters at the ends, and tabs and line breaks anywhere.
        let input = bytes.filter { ![0x09, 0x0A, 0x0D].contains($0) }
        var rest = input.drop { $0 <= 0x20 }
        while let last = rest.last, last <= 0x20 { rest.removeLast() }
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment =
                rest[(hash + 1)...].percentEncoded { Self.isPlain($0, besides: "%!$&'()*+,;=:@/?") }.closingEscapes
            rest = rest[..<hash]
        }
        if let scheme = Self.scheme(of: rest) {
            guard scheme == "http" || scheme == "https" else { return nil }
            self.scheme = scheme
            rest = rest.dropFirst(scheme.utf8.count + 1)
            guard let base, base.scheme == scheme, !rest.starts(with: "//".utf8) else {
                guard readAuthority(&rest) else { return nil }
                readPath(rest)
                return
            }
            guard resolve(rest, relativeTo: base) else { return nil }
        } else {
            guard let base else { return nil }
            scheme = base.scheme
            guard resolve(rest, relativeTo: base) else { return nil }
        }
    }

    /// Parses text, or a reference that is relative to `base`.
    package init?(_ text: String, relativeTo base: WebURL? = nil) { self.init(text.utf8, relativeTo: base) }

    /// The text of the URL.
    package var text: String { origin + (fragment.map { target + "#" + $0 } ?? target) }

    /// The text of the URL without its fragment, which is never sent.
    package var sentText: String { origin + target }

    private var origin: String { "\(scheme)://\(credentials)\(host)" + (port.map { ":\($0)" } ?? "") }

    /// The path and the query, as they are sent.
    package var target: String { "/" + path.joined(separator: "/") + (query.map { "?" + $0 } ?? "") }

    /// Whether the text of a URL is certainly equal to the ``sentText`` of the parsed URL. Most URLs are, and this
    /// function takes a small part of the time of parsing.
    package static func isNormal(_ text: String) -> Bool {
        let start = text.hasPrefix("https://") ? 8 : text.hasPrefix("http://") ? 7 : nil
        guard let start else { return false }
        let bytes = text.utf8Span.span
        var index = start
        // The last label of a name begins with a letter. Other hosts may be addresses, except the loopback's.
        var hasLetter = false
        while index < bytes.count, bytes[index] != UInt8(ascii: "/") {
            let byte = bytes[index]
            guard byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte.isDigit || (0x61...0x7A).contains(byte)
            else { break }
            if index == start || bytes[index - 1] == UInt8(ascii: ".") { hasLetter = (0x61...0x7A).contains(byte) }
            // A label in Punycode may be invalid.
            if byte == UInt8(ascii: "-"), bytes[index - 1] == byte { return false }
            index += 1
        }
        guard index > start, index < bytes.count, hasLetter || text.hasPrefix("http://127.0.0.1") && index == 16 else {
            return false
        }
        if bytes[index] == UInt8(ascii: ":") {
            let first = index + 1
            index = first
            while index < bytes.count, bytes[index].isDigit { index += 1 }
            // A port of four digits is not a default port, has no leading zero and is not too large.
            let count = index - first
            guard count == 4 || count == 5 && bytes[first] < UInt8(ascii: "6"), bytes[first] != UInt8(ascii: "0") else {
                return false
            }
        }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "/") else { return false }
        while index < bytes.count {
            switch bytes[index] {
            // The segment may be a dot segment.
            case UInt8(ascii: "."): if bytes[index - 1] == UInt8(ascii: "/") { return false }
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "="), UInt8(ascii: "&"), UInt8(ascii: ","): break
            case let byte: if !byte.isUnreserved { return false }
            }
            index += 1
        }
        return true
    }

    // MARK: Reading

    /// Returns the scheme in lowercase; nil if the reference is relative.
    private static func scheme(of rest: ArraySlice<UInt8>) -> String? {
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")), colon > rest.startIndex else { return nil }
        let name = rest[..<colon]
        guard name.first?.isLetter == true,
            name.allSatisfy({ $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) })
        else { return nil }
        return String(decoding: name, as: UTF8.self).lowercased()
    }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

    private mutating func resolve(_ reference: ArraySlice<UInt8>, relativeTo base: WebURL) -> Bool {
        var rest = reference
        if rest.count >= 2, rest.prefix(2).allSatisfy(Self.isSlash) {
            guard readAuthority(&rest) else { return false }
            readPath(rest)
            return true
        }
        (credentials, host, port) = (base.credentials, base.host, base.port)
        guard let first = rest.first else {
            (path, query) = (base.path, base.query)
            return true
        }
        if first == UInt8(ascii: "?") {
            path = base.path
            readQuery(rest.dropFirst())
        } else {
            readPath(rest, after: Self.isSlash(first) ? [] : Array(base.path.dropLast()))
        }
        return true
    }

    /// Reads the slashes, the user information, the host and the port at the beginning of `rest`. Returns false if the
    /// host or the port is invalid.
    private mutating func readAuthority(_ rest: inout ArraySlice<UInt8>) -> Bool {
        rest = rest.drop(while: Self.isSlash)
        let end = rest.firstIndex { Self.isSlash($0) || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        var authority = rest[..<end]
        rest = rest[end...]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            let parts = authority[..<at].split(
                separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false
            ).map { $0.percentEncoded { Self.isPlain($0, besides: "%!$&'()*+,") }.closingEscapes }
            let user = parts.count == 2 && parts[1].isEmpty ? parts[0] : parts.joined(separator: ":")
            credentials = user.isEmpty ? "" : user + "@"
            authority = authority[(at + 1)...]
        }
        let bracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        let colon = authority[bracket...].firstIndex(of: UInt8(ascii: ":"))
        guard let host = WebHost.parse(authority[..<(colon ?? authority.endIndex)]) else { return false }
        self.host = host
        guard let colon else { return true }
        let digits = authority[(colon + 1)...].drop { $0 == UInt8(ascii: "0") }
        let hasZero = colon + 1 < authority.endIndex && digits.isEmpty
        guard digits.allSatisfy(\.isDigit), digits.count <= 5 else { return false }
        let number = Int(String(decoding: digits, as: UTF8.self)) ?? 0
        guard number <= 65_535 else { return false }
        let isOwn = digits.isEmpty && !hasZero || number == (scheme == "https" ? 443 : 80)
        port = isOwn ? nil : number
        return true
    }

    /// Reads a path that continues after `segments`, and the query behind it.
    private mutating func readPath(_ rest: ArraySlice<UInt8>, after segments: [String] = []) {
        var segments = segments
        let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        var text = rest[..<mark]
        if let first = text.first, Self.isSlash(first) { text = text.dropFirst() }
        let all = text.split(omittingEmptySubsequences: false, whereSeparator: Self.isSlash)
        for (index, segment) in all.enumerated() {
            let isLast = index == all.count - 1
            let escaped = segment.percentEncoded { Self.isPlain($0, besides: "%!$&'()*+,;=:@") }.closingEscapes
            switch DotSegment(escaped[...]) {
            case nil:
                segments.append(escaped)
                continue
            case .parent?: _ = segments.popLast()
            case .current?: break
            }
            // A dot segment at the end stands for a directory, whose path ends with a slash.
            if isLast { segments.append("") }
        }
        path = segments
        if mark < rest.endIndex { readQuery(rest[(mark + 1)...]) }
    }

    private mutating func readQuery(_ rest: ArraySlice<UInt8>) {
        query = rest.percentEncoded { Self.isPlain($0, besides: "%!$&()*+,;=:@/?") }.closingEscapes
    }

    private static func isPlain(_ byte: UInt8, besides others: StaticString) -> Bool {
        byte.isUnreserved
            || UnsafeBufferPointer(start: others.utf8Start, count: others.utf8CodeUnitCount).contains(byte)
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) }
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
}

extension String {
    /// The text with `%25` for each percent sign that is not part of an escape.
    fileprivate var closingEscapes: String {
        let bytes = Array(utf8)
        guard bytes.contains(UInt8(ascii: "%")) else { return self }
        var closed: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            closed.append(byte)
            guard byte == UInt8(ascii: "%") else { continue }
            let isEscape =
                index + 2 < bytes.count && bytes[index + 1].hexadecimalValue != nil
                && bytes[index + 2].hexadecimalValue != nil
            if !isEscape { closed += "25".utf8 }
        }
        return String(decoding: closed, as: UTF8.self)
    }
}
