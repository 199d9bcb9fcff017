import Alcedo
import AlcedoRuntime

/// The origins that pictures may come from.
struct AllowList: Sendable {
    /// None: any.
    var patterns: [OriginPattern] = []

    /// - Throws: ``HTTPError`` 403.
    func check(_ source: SourceURL) throws(HTTPError) {
        guard patterns.isEmpty || patterns.contains(where: { $0.matches(source) }) else { throw Self.rejection }
    }

    /// Names what may come from these origins, redirects too, and from no others; equal for equal lists.
    var scope: String {
        let names = Set(patterns.map(\.description)).sorted()
        return names.isEmpty ? "" : ";from:\(SHA256.hexDigest(of: names.joined(separator: " ")))"
    }

    static let rejection = HTTPError(403, "pictures are not fetched from there")
}

/// Origins that pictures may come from: `https://host`, `https://host:port`, `host`, or `*.host` for what is below it.
struct OriginPattern: Sendable, Equatable, CustomStringConvertible {
    /// Nil: both of the web.
    private let scheme: String?
    private let host: String
    private let matchesSubdomains: Bool
    /// Nil: the scheme's own.
    private let port: Int?

    /// Nil when it is none.
    init?(_ text: String) {
        var rest = text.lowercased()[...]
        var scheme: String?
        for name in ["https", "http"] where rest.hasPrefix("\(name)://") {
            scheme = name
            rest = rest.dropFirst(name.utf8.count + 3)
            break
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        matchesSubdomains = rest.hasPrefix("*.")
        if matchesSubdomains { rest = rest.dropFirst(2) }
        guard let plain = try? SourceURL("\(scheme ?? "http")://\(rest)/"), !plain.host.contains("*"),
            !rest.contains(where: "/?#".contains), !rest.hasSuffix(":")
        else { return nil }
        let hasPort = rest.last != "]" && rest.split(separator: "]").last?.contains(":") == true
        (self.scheme, host, port) = (scheme, plain.host, hasPort ? plain.port : nil)
    }

    /// The same for patterns that are equal.
    var description: String {
        "\(scheme.map { "\($0)://" } ?? "")\(matchesSubdomains ? "*." : "")\(host)\(port.map { ":\($0)" } ?? "")"
    }

    func matches(_ source: SourceURL) -> Bool {
        guard scheme == nil || scheme == source.scheme else { return false }
        guard source.port == port ?? (source.scheme == "https" ? 443 : 80) else { return false }
        return matchesSubdomains ? source.host.hasSuffix(".\(host)") : source.host == host
    }
}
