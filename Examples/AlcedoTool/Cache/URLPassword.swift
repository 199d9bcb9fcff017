/// Passwords in URLs, which are nobody else's to see.
enum URLPassword {
    /// The text, such as a key's, with three dots for the password of each URL in it.
    static func hidden(in text: String) -> String {
        let pieces = text.split(separator: "://", omittingEmptySubsequences: false)
        return pieces.enumerated().map { index, piece in index == 0 ? String(piece) : hidden(atStartOf: piece) }
            .joined(separator: "://")
    }

    /// - Parameter rest: What follows the two slashes.
    private static func hidden(atStartOf rest: Substring) -> String {
        let authority = rest.prefix { !"/?# ".contains($0) }
        guard let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") else {
            return String(rest)
        }
        return "\(rest[...colon])...\(rest[at...])"
    }
}
