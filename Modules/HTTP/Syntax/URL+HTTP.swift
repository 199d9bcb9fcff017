package import FoundationEssentials

extension URL {
    /// Scheme, host and port of an address on the web: what credentials and connections belong to. Source: RFC 9110
    /// section 4.3.1.
    package var origin: String {
        if let plain = plainOrigin { return plain }
        let scheme = scheme?.lowercased() ?? ""
        let port = port ?? (scheme == "https" ? 443 : 80)
        let host = host()?.lowercased() ?? ""
        return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// The origin of an address that is written as it is compared, but for the port: a host of small letters, digits,
    /// dots and hyphens. Most are, and this takes a tenth of the time.
    private var plainOrigin: String? {
        let text = absoluteString
        let utf8 = text.utf8
        let port: String
        let start: String.Index
        if text.hasPrefix("https://") {
            (port, start) = (":443", utf8.index(utf8.startIndex, offsetBy: 8))
        } else if text.hasPrefix("http://") {
            (port, start) = (":80", utf8.index(utf8.startIndex, offsetBy: 7))
        } else {
            return nil
        }
        var index = start
        var portStart: String.Index?
        while index < utf8.endIndex, utf8[index] != UInt8(ascii: "/") {
            switch utf8[index] {
            case 0x61...0x7A, 0x2D, 0x2E: if portStart != nil { return nil }
            case 0x30...0x39: break
            case 0x3A where portStart == nil: portStart = index
            default: return nil
            }
            index = utf8.index(after: index)
        }
        let end = portStart ?? index
        guard end > start else { return nil }
        guard let portStart else { return String(text[..<index]) + port }
        // A port may begin with noughts, or be missing behind its colon.
        let digits = utf8[portStart..<index].dropFirst()
        guard let first = digits.first, first != 0x30, digits.count <= 5 else { return nil }
        return String(text[..<index])
    }
}

extension URL {
    /// The whole URL for messages to people: without the name and password that may be in it.
    package var shown: String { absoluteString.withoutCredentials }
}

extension String {
    /// The text of a URL or of a reference to one, without the name and password that may be before its host.
    var withoutCredentials: String {
        guard let slashes = firstRange(of: "//") else { return self }
        let authority = self[slashes.upperBound...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return self }
        return String(self[..<slashes.upperBound] + self[index(after: at)...])
    }
}

/// Removes the literal segments `.` and `..` from paths. Escaped ones (`%2e%2e`) stay: servers may take them for names.
///
/// Source: RFC 3986, section 5.2.4.
package enum DotSegments {
    /// Returns a URL's text without dot segments in its path, or nil when it has none.
    package static func removed(fromURL text: String) -> String? {
        guard let colon = text.firstRange(of: "://") else { return nil }
        let rest = text[colon.upperBound...]
        let path = rest[(rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex)...].prefix { !"?#".contains($0) }
        guard path.contains("/.") else { return nil }
        let resolved = "/" + segments(of: path).joined(separator: "/")
        return resolved == path ? nil : "\(text[..<path.startIndex])\(resolved)\(text[path.endIndex...])"
    }

    /// Returns the segments of a path without dot segments.
    package static func segments(of path: Substring) -> [Substring] {
        var segments: [Substring] = []
        let all = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for segment in all where segment != "." {
            if segment == ".." { _ = segments.popLast() } else { segments.append(segment) }
        }
        // A dot segment at the end names a directory.
        if let last = all.last, last == "." || last == ".." { segments.append("") }
        return segments
    }
}
