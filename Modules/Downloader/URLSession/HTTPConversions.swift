import AlcedoCore
import AlcedoHTTP
import Foundation
import FoundationNetworking

extension URLRequest {
    /// A day in seconds. The session counts in milliseconds, and a longer timeout could overflow.
    private static let longestTimeout = 86_400.0

    /// Converts a request.
    ///
    /// - Throws: ``/AlcedoHTTP/HTTPTransportError`` `invalidRequest` if FoundationNetworking could not send the URL,
    ///   the method, the body or a field.
    init(_ request: HTTPRequest) throws {
        guard let scheme = request.url.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
            throw Self.invalid("not an HTTP URL: \(request.url.shown)")
        }
        guard let host = request.url.host, !host.isEmpty else {
            throw Self.invalid("the URL has no host: \(request.url.shown)")
        }
        guard request.method.rawValue.isToken else { throw Self.invalid("invalid method: not an HTTP token") }
        guard request.body == nil || ![.get, .head].contains(request.method) else {
            throw Self.invalid("a \(request.method) request cannot have a body")
        }
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        httpBody = request.body
        // FoundationNetworking would round a fraction of a second down to zero.
        let seconds = (request.idleTimeout / .seconds(1)).rounded(.up)
        timeoutInterval = min(max(1, seconds), Self.longestTimeout)
        for field in request.fields {
            // A line break in a value would begin another field (RFC 9110 section 5.5).
            guard field.name.isToken, field.value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 })
            else { throw Self.invalid("invalid header field: \(field.name.debugDescription)") }
            setValue(request.fields[field.name], forHTTPHeaderField: field.name)
        }
    }

    private static func invalid(_ message: String) -> HTTPTransportError {
        HTTPTransportError(.invalidRequest, message)
    }
}

extension HTTPResponseHead {
    /// Converts the head of a response.
    ///
    /// - Parameters:
    ///   - response: The session's response.
    ///   - url: The URL of the request.
    init(_ response: HTTPURLResponse, url: URL) {
        let fields = response.allHeaderFields.compactMap { name, value -> HTTPFields.Field? in
            guard let name = name as? String, let value = value as? String else { return nil }
            // The session has decoded the bytes as UTF-8, but `HTTPFields` stores each byte as one code point.
            return HTTPFields.Field(name, String(latin1: value.utf8))
        }
        // The session does not keep the order of the fields. Sorting makes it at least deterministic.
        self.init(url: url, status: response.statusCode, fields: HTTPFields(fields.sorted { $0.name < $1.name }))
    }
}

extension HTTPTransportError {
    /// Converts the error of a session task.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - url: The URL of the request.
    ///   - hasHead: Whether the head of the response had arrived before the error.
    init(_ error: any Error, url: URL, hasHead: Bool) {
        let message = (error as NSError).localizedDescription
        guard let error = error as? URLError else {
            self.init(.failed, message)
            return
        }
        self.init(Self.code(error.code) ?? Self.unexplained(url: url, hasHead: hasHead), message)
    }

    /// Returns the transport's code for a code of the session; nil for `unknown`, which does not describe the error.
    private static func code(_ code: URLError.Code) -> Code? {
        switch code {
        case .badURL: .invalidRequest
        // The scheme was checked before, so this is a response that is neither HTTP/1 nor HTTP/2.
        case .unsupportedURL: .invalidResponse
        case .cannotFindHost, .dnsLookupFailed: .cannotResolveHost
        case .notConnectedToInternet: .offline
        case .dataNotAllowed, .internationalRoamingOff: .dataNotAllowed
        case .cannotConnectToHost: .cannotConnect
        // `badServerResponse` is an empty reply: the connection ended before the head.
        case .networkConnectionLost, .badServerResponse: .connectionLost
        case .timedOut: .timedOut
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected:
            .secureConnectionFailed
        case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData: .invalidResponse
        case .dataLengthExceedsMaximum: .bodyTooLarge
        case .unknown: nil
        default: .failed
        }
    }

    /// Returns the code of an error that has only libcurl's text, which differs between versions. Before the head of an
    /// HTTPS response, most such errors are TLS failures, and all are reported as TLS failures. Other errors are
    /// reported as a lost connection. This code does the least harm: the request may be repeated, and the URL is not
    /// remembered as broken.
    private static func unexplained(url: URL, hasHead: Bool) -> Code {
        !hasHead && url.scheme?.lowercased() == "https" ? .secureConnectionFailed : .connectionLost
    }
}
