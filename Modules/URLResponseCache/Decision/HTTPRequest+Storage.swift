import AlcedoCore
import FoundationEssentials

extension HTTPRequest {
    /// The URL under which answers are stored, the same for all spellings that RFC 9110 section 4.2.3 calls equal:
    /// without the fragment, which never reaches the server, with scheme and host in lower case, without the scheme's
    /// own port, and with a path.
    var storageURL: URL {
        let text = ResourceKey(url).description
        guard let colon = text.firstRange(of: "://") else { return url }
        let scheme = text[..<colon.lowerBound].lowercased()
        let authority = text[colon.upperBound...].prefix { $0 != "/" && $0 != "?" }
        let rest = text[authority.endIndex...]
        // What stands before the host are names, in which case matters.
        let hostStart = authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex
        var host = authority[hostStart...].lowercased()
        for suffix in [":", scheme == "http" ? ":80" : scheme == "https" ? ":443" : ":"] where host.hasSuffix(suffix) {
            host.removeLast(suffix.count)
        }
        let path = rest.hasPrefix("/") ? rest : "/" + rest
        return URL(string: "\(scheme)://\(authority[..<hostStart])\(host)\(path)") ?? url
    }

    /// Whether the request says who asks, in a field or in the URL.
    var hasCredentials: Bool { fields["Authorization"] != nil || url.user != nil }
}
