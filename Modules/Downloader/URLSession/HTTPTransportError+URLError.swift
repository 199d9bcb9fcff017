import AlcedoCore
import Foundation
import FoundationNetworking

extension HTTPTransportError {
    /// An error that a session task ended with.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - hasHead: Whether the head of the response had arrived.
    init(_ error: any Error, url: URL, hasHead: Bool) {
        let message = (error as NSError).localizedDescription
        guard let error = error as? URLError else {
            self.init(.failed, message)
            return
        }
        self.init(Self.code(error.code) ?? Self.unexplained(url: url, hasHead: hasHead), message)
    }

    /// Returns nil for an error that FoundationNetworking gives no code of its own.
    private static func code(_ code: URLError.Code) -> Code? {
        switch code {
        case .badURL: .invalidRequest
        // The scheme was checked before, so this is a response that is not HTTP/1 or 2.
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

    /// FoundationNetworking passes the rest of libcurl's errors on as text, which differs between versions. They are
    /// told apart by when they occur: before the head of an HTTPS response by far the most are failures of TLS. For
    /// all others a lost connection is the assumption that does the least harm, because another attempt is allowed
    /// and the URL is not remembered as broken.
    private static func unexplained(url: URL, hasHead: Bool) -> Code {
        !hasHead && url.scheme?.lowercased() == "https" ? .secureConnectionFailed : .connectionLost
    }
}
