package import FoundationEssentials

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
