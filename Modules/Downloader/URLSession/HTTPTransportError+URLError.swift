import AlcedoCore
import Foundation
import FoundationNetworking

extension HTTPTransportError {
    /// An error that a session task ended with.
    init(_ error: any Error) {
        let message = (error as NSError).localizedDescription
        guard let error = error as? URLError else {
            self.init(.failed, message)
            return
        }
        self.init(Self.code(error.code, message), message)
    }

    private static func code(_ code: URLError.Code, _ message: String) -> Code {
        switch code {
        case .badURL: .invalidRequest
        // The scheme was checked before, so this is libcurl's "unsupported protocol": an answer that is not HTTP/1 or 2.
        case .unsupportedURL: .invalidResponse
        case .cannotFindHost, .dnsLookupFailed: .cannotResolveHost
        case .notConnectedToInternet: .offline
        case .dataNotAllowed, .internationalRoamingOff: .dataNotAllowed
        case .cannotConnectToHost: .cannotConnect
        // "Empty reply from server": the connection ended before the head.
        case .networkConnectionLost, .badServerResponse: .connectionLost
        case .timedOut: .timedOut
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected:
            .secureConnectionFailed
        default: Self.code(saidAs: message)
        }
    }

    /// FoundationNetworking gives most of libcurl's errors no code of their own, only libcurl's words.
    private static func code(saidAs message: String) -> Code {
        let signs: [(words: String, code: Code)] = [
            ("transfer closed", .connectionLost), ("partial file", .connectionLost), ("Recv failure", .connectionLost),
            ("Send failure", .connectionLost), ("SSL", .secureConnectionFailed), ("TLS", .secureConnectionFailed),
            ("certificate", .secureConnectionFailed), ("chunked-encoding", .invalidResponse),
            ("unencoding", .invalidResponse), ("eader", .invalidResponse), ("Content-Length", .invalidResponse),
            ("HTTP", .invalidResponse), ("resolve host", .cannotResolveHost), ("connect to", .cannotConnect),
        ]
        return signs.first { message.contains($0.words) }?.code ?? .failed
    }
}
