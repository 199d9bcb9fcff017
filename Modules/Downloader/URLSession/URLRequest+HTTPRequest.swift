import AlcedoCore
import Foundation
import FoundationNetworking

extension URLRequest {
    /// A day; the session counts in milliseconds and must not overflow.
    private static let longestTimeout = 86_400.0

    /// - Throws: ``HTTPTransportError`` `invalidRequest` when FoundationNetworking could not send the request as it is.
    init(_ request: HTTPRequest) throws {
        guard let scheme = request.url.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
            throw Self.invalid("the URL's scheme is not http or https")
        }
        guard let host = request.url.host, !host.isEmpty else { throw Self.invalid("the URL has no host") }
        guard request.method.rawValue.isToken else { throw Self.invalid("the method is no token") }
        guard request.body == nil || ![.get, .head].contains(request.method) else {
            throw Self.invalid("a \(request.method) request cannot have a body")
        }
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        httpBody = request.body
        // A part of a second would count as none.
        let seconds = (request.idleTimeout / .seconds(1)).rounded(.up)
        timeoutInterval = min(max(1, seconds), Self.longestTimeout)
        for field in request.fields.fields {
            // A line break in a value would begin another field (RFC 9110 section 5.5).
            guard field.name.isToken, field.value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 })
            else { throw Self.invalid("the field \(field.name.debugDescription) cannot be sent") }
            setValue(request.fields[field.name], forHTTPHeaderField: field.name)
        }
    }

    private static func invalid(_ message: String) -> HTTPTransportError {
        HTTPTransportError(.invalidRequest, message)
    }
}
