import FoundationEssentials

/// Where a redirect leads. Source: RFC 9110 section 15.4.
enum Redirect {
    /// Fields that must not reach another origin.
    private static let secrets = ["Authorization", "Cookie", "Proxy-Authorization", "Host"]

    /// Fields that speak of a body.
    private static let bodyFields = [
        "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location",
        "Transfer-Encoding",
    ]

    /// - Returns: The request to send next; nil when the answer is no redirect, or does not say where it leads.
    /// - Throws: ``RedirectError`` for a target that is not on the web.
    static func request(after request: HTTPRequest, head: HTTPResponseHead) throws(RedirectError) -> HTTPRequest? {
        guard head.isRedirect, let location = head.fields.values(of: "Location").first else { return nil }
        guard let target = URL(string: reference(location), relativeTo: request.url)?.absoluteURL,
            let scheme = target.scheme?.lowercased(), scheme == "http" || scheme == "https", target.host() != nil
        else { throw RedirectError(message: "the server redirects to \(location.withoutCredentials.debugDescription)") }
        var next = request
        next.url = target
        if target.origin != request.url.origin {
            for name in secrets { next.fields[name] = nil }
        }
        // 303 always, and the others for POST by old custom, go on as GET.
        let turnsIntoGet = head.status == 303 || (head.status < 303 && request.method == .post)
        if turnsIntoGet, request.method != .head, request.method != .get {
            next.method = .get
            next.body = nil
            for name in bodyFields { next.fields[name] = nil }
        }
        return next
    }

    /// The text of a `Location` as a URL may have it: bytes above ASCII, which stand there as code points, percent-encoded.
    private static func reference(_ location: String) -> String {
        let bytes = location.latin1 ?? Array(location.utf8)
        guard bytes.contains(where: { $0 >= 0x80 }) else { return location }
        let hexadecimal = Array("0123456789ABCDEF".utf8)
        let encoded = bytes.flatMap { byte in
            byte < 0x80 ? [byte] : [UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension HTTPResponseHead {
    /// Whether the status sends the client elsewhere with the same request, or one like it.
    package var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }
}
