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
