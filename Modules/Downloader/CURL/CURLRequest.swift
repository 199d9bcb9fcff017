import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A validated request in the form that libcurl expects.
struct CURLRequest: Sendable {
    let method: String
    let url: URL
    /// The text of the URL as it is sent: normalized, and without its fragment.
    private let sentURL: String
    /// The scheme, host and port of the URL, which identify the server.
    let host: String
    let body: Data?
    /// The header lines in libcurl's format, each ending in a NUL.
    let headerLines: [[CChar]]
    /// Whether content codings are requested and decoded.
    let decodesContent: Bool
    /// Whether the request has its own `Cookie` field and therefore does not use the cookie jar.
    let hasOwnCookies: Bool
    let pinnedKeys: String?
    let verifies: Bool
    let connectTimeout: Duration
    let timeouts: CURLTimeouts

    /// The maximum number of bytes of the URL and the fields. libcurl sends a head of at most 1 MiB, and reports a
    /// longer one as a lack of memory.
    private static let maximumHeadSize = 1_000_000

    /// Converts and validates a request.
    ///
    /// - Throws: ``/AlcedoHTTP/HTTPTransportError`` `invalidRequest` if the request violates one of the following
    ///   rules. The scheme must be `http` or `https`, and the URL must have a host. The method must be a token, and a
    ///   HEAD request must not have a body. A field's name must be a token. A field's value must consist of ISO-8859-1
    ///   characters, without NUL and line breaks. A line break could begin another header line (RFC 9110 section 5.5).
    ///   The URL and the fields must not have more than 1,000,000 bytes together.
    init(_ request: HTTPRequest, _ settings: CURLSettings) throws(HTTPTransportError) {
        guard let scheme = request.url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw HTTPTransportError(.invalidRequest, "not an HTTP URL: \(request.url.shown)")
        }
        // If the host were missing, libcurl would use the next part of the URL as the host. Pins and limits would not
        // apply to that host.
        guard let host = request.url.host(), !host.isEmpty else {
            throw HTTPTransportError(.invalidRequest, "the URL has no host: \(request.url.shown)")
        }
        guard request.method.rawValue.isToken else {
            throw HTTPTransportError(
                .invalidRequest, "invalid method: \(request.method.rawValue.excerpt.debugDescription)")
        }
        guard request.method != .head || request.body == nil else {
            throw HTTPTransportError(.invalidRequest, "a HEAD request cannot have a body")
        }
        method = request.method.rawValue
        isIdempotent = request.method.isIdempotent
        url = request.url
        let text = request.url.absoluteString
        if WebURL.isNormal(text) {
            (sentURL, self.host) = (text, request.url.origin)
        } else {
            (sentURL, self.host) = try Self.normalized(request.url)
        }
        let name = CURLOptions.normalized(host: Self.hostName(of: self.host))
        pinnedKeys = settings.pinnedKeys(of: name)
        verifies = settings.verifies(name)
        // Without a body, libcurl would not send a `Content-Length` for these methods. RFC 9110 section 8.6.
        body = request.body ?? (["POST", "PUT", "PATCH"].contains(method) ? Data() : nil)
        var lines: [[CChar]] = []
        for field in request.fields { lines.append(try Self.line(field)) }
        // libcurl would add the content type of a form. A name without a value prevents that.
        if body != nil, request.fields["Content-Type"] == nil { lines.append(Array("Content-Type:".utf8CString)) }
        // A part of encoded content cannot be decoded, and a client that sets `Accept-Encoding` expects the encoded
        // bytes.
        decodesContent =
            settings.decodesContent && request.fields["Accept-Encoding"] == nil && request.fields["Range"] == nil
        if decodesContent { lines.append(Array("Accept-Encoding: \(ContentDecoder.supportedCodings)".utf8CString)) }
        // The final zero of a line and one more byte stand for the line break.
        let size = lines.reduce(sentURL.utf8.count) { $0 + $1.count + 1 }
        guard size <= Self.maximumHeadSize else {
            throw HTTPTransportError(
                .invalidRequest,
                "the URL and the fields of the request for \(url.shown) have \(size) bytes; the maximum is "
                    + "\(Self.maximumHeadSize)")
        }
        headerLines = lines
        hasOwnCookies = settings.keepsCookies && request.fields["Cookie"] != nil
        timeouts = CURLTimeouts(request)
        connectTimeout = min(timeouts.idle, settings.connectTimeout ?? timeouts.idle)
    }

    /// Returns the text of a URL that is not in normal form as it is sent, and its origin.
    private static func normalized(_ url: URL) throws(HTTPTransportError) -> (text: String, origin: String) {
        guard let parsed = WebURL(url.absoluteString) else {
            throw HTTPTransportError(.invalidRequest, "the URL has no valid host or port: \(url.shown)")
        }
        guard !parsed.host.contains("%") else {
            throw HTTPTransportError(
                .invalidRequest,
                "cannot send the host name of \(url.shown): libidn2, which converts it, is not available")
        }
        let port = parsed.port ?? (parsed.scheme == "https" ? 443 : 80)
        return (parsed.sentText, "\(parsed.scheme)://\(parsed.host):\(port)")
    }

    /// Returns the host of an origin, without the brackets of an IPv6 address. The name is the one that libcurl uses,
    /// so that another spelling in the URL cannot bypass a pin.
    private static func hostName(of origin: String) -> String {
        let colon = origin.lastIndex(of: ":") ?? origin.endIndex
        guard let slashes = origin.firstRange(of: "://"), slashes.upperBound <= colon else { return origin }
        let host = origin[slashes.upperBound..<colon]
        return String(host.hasPrefix("[") ? host.dropFirst().dropLast() : host)
    }

    /// Whether sending the request twice has the same effect as sending it once.
    let isIdempotent: Bool

    /// Calls `body` with the method, the URL, and the pinned keys.
    func withCStrings<Result>(
        _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>?) -> Result
    ) -> Result {
        method.withCString { method in
            sentURL.withCString { url in
                guard let pinnedKeys else { return body(method, url, nil) }
                return pinnedKeys.withCString { body(method, url, $0) }
            }
        }
    }

    private static func line(_ field: HTTPFields.Field) throws(HTTPTransportError) -> [CChar] {
        guard field.name.isToken, let value = field.value.latin1, !value.contains(where: { [0, 10, 13].contains($0) })
        else {
            throw HTTPTransportError(.invalidRequest, "invalid header field: \(field.name.excerpt.debugDescription)")
        }
        // In libcurl's format, a semicolon after the name means an empty value. A colon followed only by spaces would
        // remove the field.
        let isBlank = value.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let line = isBlank ? Array("\(field.name);".utf8) : Array("\(field.name): ".utf8) + value
        return (line + [0]).map { CChar(bitPattern: $0) }
    }
}
