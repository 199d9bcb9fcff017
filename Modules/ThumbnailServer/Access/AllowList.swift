import Alcedo
import AlcedoRuntime

/// The origins from which images may be downloaded.
struct AllowList: Sendable {
    /// The allowed origins. An empty list allows any origin.
    var patterns: [OriginPattern] = []

    /// Checks whether a source is allowed.
    ///
    /// - Throws: ``HTTPError`` 403 if the list is not empty and no pattern matches.
    func check(_ source: SourceURL) throws(HTTPError) {
        guard patterns.isEmpty || patterns.contains(where: { $0.matches(source) }) else { throw Self.rejection }
    }

    /// The suffix of the keys of stored thumbnails. Servers with different lists have different suffixes, because a
    /// server must not serve originals or follow redirects from origins that it does not allow. Empty if any origin is
    /// allowed. The order of the patterns has no effect.
    var scope: String {
        let names = Set(patterns.map(\.description)).sorted()
        return names.isEmpty ? "" : ";from:\(SHA256.hexDigest(of: names.joined(separator: " ")))"
    }

    static let rejection = HTTPError(403, "the origin is not allowed")
}

/// A pattern of allowed origins: a host, or `*.host` for the subdomains of a host, with an optional scheme and port,
/// such as `https://host:port`.
struct OriginPattern: Sendable, Equatable, CustomStringConvertible {
    /// The scheme; nil for both `http` and `https`.
    private let scheme: String?
    private let host: String
    private let matchesSubdomains: Bool
    /// The port; nil for the default port of the scheme.
    private let port: Int?

    /// Creates a pattern. Returns nil if the text is not a valid pattern.
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

    /// The canonical text of the pattern. Equal patterns have equal descriptions.
    var description: String {
        "\(scheme.map { "\($0)://" } ?? "")\(matchesSubdomains ? "*." : "")\(host)\(port.map { ":\($0)" } ?? "")"
    }

    func matches(_ source: SourceURL) -> Bool {
        guard scheme == nil || scheme == source.scheme else { return false }
        guard source.port == port ?? (source.scheme == "https" ? 443 : 80) else { return false }
        return matchesSubdomains ? source.host.hasSuffix(".\(host)") : source.host == host
    }
}
