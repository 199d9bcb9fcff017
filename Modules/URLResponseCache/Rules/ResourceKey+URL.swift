import AlcedoCore
import FoundationEssentials

extension ResourceKey {
    /// Names a URL the same for all spellings that RFC 9110 section 4.2.3 calls equal: without the fragment, which never
    /// reaches the server, with scheme and host in lower case, without the scheme's own port, and with a path.
    init(normal url: URL) {
        let text = url.absoluteString
        // Nearly every URL is in this form already, and then is its own key.
        self.init(Self.isNormal(text.utf8) ? text : Self.normalised(ResourceKey(url).description))
    }

    private static func isNormal(_ text: String.UTF8View) -> Bool {
        var slashes = 0
        for byte in text {
            if byte == UInt8(ascii: "#") { return false }
            if slashes >= 3 { continue }
            switch byte {
            case UInt8(ascii: "/"): slashes += 1
            // In the authority: a port or a name may be there, upper case, or a query without a path.
            case UInt8(ascii: ":") where slashes > 0: return false
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "?"), UInt8(ascii: "@"): return false
            default: break
            }
        }
        return slashes >= 3
    }

    private static func normalised(_ text: String) -> String {
        guard let colon = text.firstRange(of: "://") else { return text }
        let scheme = text[..<colon.lowerBound].lowercased()
        let authority = text[colon.upperBound...].prefix { $0 != "/" && $0 != "?" }
        let rest = text[authority.endIndex...]
        // What stands before the host are names, in which case matters.
        let hostStart = authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex
        var host = authority[hostStart...].lowercased()
        for suffix in [":", scheme == "http" ? ":80" : scheme == "https" ? ":443" : ":"] where host.hasSuffix(suffix) {
            host.removeLast(suffix.count)
        }
        let path = rest.hasPrefix("/") ? String(rest) : "/" + rest
        return "\(scheme)://\(authority[..<hostStart])\(host)\(path)"
    }
}
