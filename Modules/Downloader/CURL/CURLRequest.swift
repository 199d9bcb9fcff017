import AlcedoCore
import FoundationEssentials

/// A request in the form that libcurl takes, checked.
struct CURLRequest: Sendable {
    let method: String
    let url: URL
    /// Scheme, host and port: what connections are counted by.
    let host: String
    let body: Data?
    let headerLines: [String]
    let idleTimeout: Duration

    /// - Throws: ``HTTPTransportError`` `invalidRequest` for what must not go on the wire: another scheme, a line end or
    ///   a NUL where one would make a header of its own (RFC 9110 section 5.5).
    init(_ request: HTTPRequest) throws(HTTPTransportError) {
        guard let scheme = request.url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw HTTPTransportError(.invalidRequest, "not an HTTP URL: \(request.url.absoluteString)")
        }
        let isToken = { (text: String) in
            !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
        }
        guard isToken(request.method.rawValue) else {
            throw HTTPTransportError(.invalidRequest, "not a method: \(request.method.rawValue.debugDescription)")
        }
        headerLines = try request.fields.fields.map { (field) throws(HTTPTransportError) in
            guard isToken(field.name), !field.value.utf8.contains(where: { [0, 10, 13].contains($0) }) else {
                throw HTTPTransportError(.invalidRequest, "not a header field: \(field.name.debugDescription)")
            }
            // libcurl's spelling of a field without a value; with a colon it would remove the field.
            return field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
        }
        method = request.method.rawValue
        url = request.url
        host = "\(scheme)://\(request.url.host()?.lowercased() ?? ""):\(request.url.port ?? 0)"
        body = request.body
        idleTimeout = request.idleTimeout
    }
}
