import Alcedo
import AlcedoHTTP
import FoundationEssentials

/// Redirects every request for one host, and passes the others on.
struct RedirectingTransport: HTTPTransport {
    static let host = "public.test"

    let others: any HTTPTransport
    let location: String

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard request.url.host() == Self.host else { return try await others.send(request) }
        let head = HTTPResponseHead(url: request.url, status: 302, fields: ["Location": location])
        return HTTPResponse(head: head, body: HTTPBody(Data()))
    }
}
