import AlcedoHTTP
import FoundationEssentials

/// The URL of an original, restricted to `http` and `https` and to syntax that all parsers interpret in the same way.
struct SourceURL: Sendable, Equatable {
    static let byteLimit = 4 << 10

    let url: URL
    /// The scheme, `http` or `https`.
    let scheme: String
    /// The host in lowercase, without a trailing dot. All spellings of an IPv4 address, such as `127.1`, `0x7f000001`
    /// and `[::ffff:127.0.0.1]`, have the same host, because the server connects to the same machine.
    let host: String
    let port: Int

    /// Creates a source from the text of a URL.
    ///
    /// - Throws: ``HTTPError`` 400 if the URL is longer than 4 KiB, has another scheme, a user name or a password, or
    ///   has an unusual syntax. Parsers disagree about unusual syntax. With such a URL, the server could check one host
    ///   and request another.
    init(_ text: String) throws(HTTPError) {
        guard text.utf8.count <= Self.byteLimit else { throw HTTPError(400, "url is too long") }
        guard text.utf8.allSatisfy(Self.isAllowed), let url = URL(string: text) else {
            throw HTTPError(400, "url is not a valid URL; percent-encode its reserved characters, then the whole value")
        }
        self = try Self(url)
    }

    init(_ url: URL) throws(HTTPError) {
        guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
            throw HTTPError(400, "url does not have the scheme http or https")
        }
        let text = url.absoluteString
        let authority = text.dropFirst(scheme.utf8.count).dropFirst(3).prefix { !"/?#".contains($0) }
        guard text.dropFirst(scheme.utf8.count).hasPrefix("://"), !authority.contains("@"),
            let named = url.host(percentEncoded: true)?.lowercased()
        else { throw HTTPError(400, "url has no host, or has a user name or password") }
        let name = named.hasSuffix(".") ? String(named.dropLast()) : named
        // A host name has no empty labels.
        guard !name.isEmpty, !name.hasPrefix("."), !name.hasSuffix("."), !name.contains(".."), name.utf8.count <= 253,
            name.utf8.allSatisfy(Self.isOfHost), let host = Self.normalized(name)
        else {
            throw HTTPError(400, "the host of url is invalid; write names that are not ASCII in Punycode")
        }
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        guard (1...65_535).contains(port) else { throw HTTPError(400, "url has an invalid port") }
        (self.url, self.scheme, self.host, self.port) = (url, scheme, host, port)
    }

    /// Returns a host in its normal form, an IPv6 address without brackets; nil for an invalid address.
    private static func normalized(_ name: String) -> String? {
        guard name.contains(":") else { return WebHost.parse(Array(name.utf8)[...]) }
        let literal = name.hasPrefix("[") ? name : "[\(name)]"
        guard let host = WebHost.parse(Array(literal.utf8)[...])?.dropFirst().dropLast() else { return nil }
        let prefix = "::ffff:"
        let groups = host.dropFirst(prefix.count).split(separator: ":").compactMap { UInt32($0, radix: 16) }
        guard host.hasPrefix(prefix), groups.count == 2 else { return String(host) }
        return WebHost.parse(Array("\(groups[0] << 16 | groups[1])".utf8)[...])
    }

    /// Whether a byte may occur in a URL (RFC 3986, section 2).
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~:/?#[]@!$&'()*+,;=%".utf8.contains(byte)
        }
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x61...0x7A: true
        default: "-._:[]".utf8.contains(byte)
        }
    }
}
