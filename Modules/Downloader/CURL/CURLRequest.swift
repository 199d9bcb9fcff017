import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// A request in the form that libcurl takes, checked.
struct CURLRequest: Sendable {
    let method: String
    let url: URL
    /// Scheme, host and port: what connections are counted by.
    let host: String
    let body: Data?
    /// In libcurl's spelling, ending in a NUL.
    let headerLines: [[CChar]]
    /// Whether libcurl asks for content codings and undoes them.
    let decodesContent: Bool
    /// Whether a cookie jar leaves the request alone.
    let hasOwnCookies: Bool
    let pinnedKeys: String?
    let verifies: Bool
    let connectTimeout: Duration
    let timeouts: CURLTimeouts

    /// - Throws: ``/AlcedoHTTP/HTTPTransportError`` `invalidRequest` for what must not go on the wire: another scheme, no host, a line end
    ///   or a NUL where one would make a header of its own (RFC 9110 section 5.5), a value that has no bytes in ISO-8859-1,
    ///   a HEAD with a body.
    init(_ request: HTTPRequest, _ settings: CURLSettings) throws(HTTPTransportError) {
        guard let scheme = request.url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw HTTPTransportError(.invalidRequest, "not an HTTP URL: \(request.url.shown)")
        }
        // libcurl would take the next word for the host, which is not what pins and limits are counted by.
        guard let host = request.url.host(), !host.isEmpty else {
            throw HTTPTransportError(.invalidRequest, "a URL without a host: \(request.url.shown)")
        }
        guard request.method.rawValue.isToken else {
            throw HTTPTransportError(.invalidRequest, "not a method: \(request.method.rawValue.debugDescription)")
        }
        guard request.method != .head || request.body == nil else {
            throw HTTPTransportError(.invalidRequest, "a HEAD request has no body")
        }
        method = request.method.rawValue
        isIdempotent = request.method.isIdempotent
        url = request.url
        let name = Self.name(of: request.url)
        self.host = request.url.origin
        pinnedKeys = settings.pinnedKeys(of: name)
        verifies = settings.verifies(name)
        // Without one, these would say nothing of their length. RFC 9110 section 8.6.
        body = request.body ?? (["POST", "PUT", "PATCH"].contains(method) ? Data() : nil)
        var lines: [[CChar]] = []
        for field in request.fields { lines.append(try Self.line(field)) }
        // libcurl would call any body a form's; a name without a value keeps it from that.
        if body != nil, request.fields["Content-Type"] == nil { lines.append(Array("Content-Type:".utf8CString)) }
        headerLines = lines
        // A part of a coded content cannot be decoded, and who names codings wants the coded bytes.
        self.decodesContent =
            settings.decodesContent && request.fields["Accept-Encoding"] == nil && request.fields["Range"] == nil
        hasOwnCookies = settings.keepsCookies && request.fields["Cookie"] != nil
        timeouts = CURLTimeouts(request)
        connectTimeout = min(timeouts.idle, settings.connectTimeout ?? timeouts.idle)
    }

    /// The name of the server as libcurl sees it, however it is written: else another spelling would get round a pin.
    private static func name(of url: URL) -> String {
        CURLOptions.normalized(host: url.host(percentEncoded: false) ?? "")
    }

    /// Whether to send it twice does no more than to send it once.
    let isIdempotent: Bool

    /// Calls `body` with the method, the URL and the pinned keys.
    func withCStrings<Result>(
        _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>?) -> Result
    ) -> Result {
        let text = url.absoluteString
        return method.withCString { method in
            (DotSegments.removed(fromURL: text) ?? text).withCString { url in
                guard let pinnedKeys else { return body(method, url, nil) }
                return pinnedKeys.withCString { body(method, url, $0) }
            }
        }
    }

    private static func line(_ field: HTTPFields.Field) throws(HTTPTransportError) -> [CChar] {
        guard field.name.isToken, let value = field.value.latin1, !value.contains(where: { [0, 10, 13].contains($0) })
        else { throw HTTPTransportError(.invalidRequest, "not a header field: \(field.name.debugDescription)") }
        // libcurl's spelling of a field without a value; a colon with nothing but space behind it removes the field.
        let isBlank = value.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let line = isBlank ? Array("\(field.name);".utf8) : Array("\(field.name): ".utf8) + value
        return (line + [0]).map { CChar(bitPattern: $0) }
    }
}
