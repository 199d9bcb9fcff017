import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

extension ResourceKey {
    /// Creates the key of a URL. Equivalent spellings of a URL have the same key (``URLNormalization``).
    ///
    /// The key omits the fragment and the credentials, which are not part of the request target.
    init(normal url: URL) {
        let text = url.absoluteString
        // Most URLs are already in normal form and need no copy.
        self.init(URLNormalization.isNormal(text.utf8Span.span) ? text : URLNormalization.normalized(text))
    }
}

extension HTTPRequest {
    /// The key under which the responses to the request are stored.
    var resourceKey: ResourceKey { ResourceKey(normal: url) }
}

/// Normalization of URLs, so that equivalent URLs share a key. Source: RFC 9110 section 4.2.3, RFC 3986 sections 5.2.4
/// and 6.2.
///
/// The normal form removes differences between spellings that a server must treat as equivalent, or that a client sends
/// as the same request target:
///
/// - The case of the scheme and the host, the scheme's default port, an empty path, and the fragment, which is not
///   sent.
/// - The case of percent-encodings, and percent-encodings of unreserved characters (RFC 9110 section 4.2.3).
/// - Dot segments, also percent-encoded ones, which ``URLResolvingTransport`` removes before a request is sent.
///
/// The normal form keeps all other differences: percent-encodings of reserved characters, such as `%2F` and `%5C`;
/// empty segments; other spellings of an IP address or a port; a dot at the end of a host; and other differences in the
/// query.
private enum URLNormalization {
    /// Whether a URL is certainly in normal form. O(length), without a copy.
    static func isNormal(_ text: Span<UInt8>) -> Bool {
        var slashes = 0
        var isInQuery = false
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "#"): return false
            case UInt8(ascii: "%"):
                guard slashes >= 3, index + 2 < text.count, isNeeded(text[index + 1], text[index + 2]) else {
                    return false
                }
            case UInt8(ascii: "?"):
                // The query follows the authority, without a path.
                if slashes < 3 { return false }
                isInQuery = true
            case UInt8(ascii: "/"): slashes += 1
            // The segment may be a dot segment.
            case UInt8(ascii: "."): if !isInQuery, text[max(0, index - 1)] == UInt8(ascii: "/") { return false }
            // The authority may have a port, credentials or upper-case letters.
            case UInt8(ascii: ":"): if slashes > 0, slashes < 3 { return false }
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "@"): if slashes < 3 { return false }
            default: break
            }
        }
        return slashes >= 3
    }

    static func normalized(_ text: String) -> String {
        let text = text.prefix { $0 != "#" }
        guard let colon = text.firstRange(of: "://") else { return unescaped(text) }
        let scheme = text[..<colon.lowerBound].lowercased()
        let authority = text[colon.upperBound...].prefix { $0 != "/" && $0 != "?" }
        let hostStart = authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex
        var host = unescaped(authority[hostStart...]).lowercased()
        for suffix in [":", scheme == "http" ? ":80" : scheme == "https" ? ":443" : ":"] where host.hasSuffix(suffix) {
            host.removeLast(suffix.count)
        }
        let path = text[authority.endIndex...].prefix { $0 != "?" }
        let segments = DotSegments.segments(of: path).map { unescaped($0) }.joined(separator: "/")
        return "\(scheme)://\(host)/\(segments)\(unescaped(text[path.endIndex...]))"
    }

    /// Returns the text with percent-encodings in upper case, without those of unreserved characters.
    private static func unescaped(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let (high, low) = digits(rest) else {
                bytes.append(byte)
                continue
            }
            rest = rest.dropFirst(2)
            let value = high << 4 | low
            if value.isUnreserved {
                bytes.append(value)
            } else {
                bytes += [byte, capital(high), capital(low)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a percent-encoding with these digits is in upper case and encodes a byte that requires it. Returns true
    /// for invalid digits, which normalization does not change.
    private static func isNeeded(_ high: UInt8, _ low: UInt8) -> Bool {
        guard let first = digit(high), let second = digit(low) else { return true }
        return capital(first) == high && capital(second) == low && !(first << 4 | second).isUnreserved
    }

    private static func digits(_ bytes: ArraySlice<UInt8>) -> (UInt8, UInt8)? {
        guard bytes.count >= 2, let high = digit(bytes[bytes.startIndex]), let low = digit(bytes[bytes.startIndex + 1])
        else { return nil }
        return (high, low)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    private static func capital(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x41 + digit - 10 }
}
