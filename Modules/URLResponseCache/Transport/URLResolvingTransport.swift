import AlcedoCore
import FoundationEssentials

/// Sends each request under the URL that its cache key names: without literal dot segments in its path.
///
/// Source: RFC 3986 section 6.2.2.3. `CURLTransport` removes them as well; another transport may send them as written,
/// and a response to `/a/../b` must not be stored for `/b` when the server may tell them apart.
struct URLResolvingTransport: HTTPTransport {
    private let transport: any HTTPTransport

    init(_ transport: any HTTPTransport) { self.transport = transport }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let text = DotSegments.removed(fromURL: request.url.absoluteString), let url = URL(string: text) else {
            return try await transport.send(request)
        }
        var resolved = request
        resolved.url = url
        var response = try await transport.send(resolved)
        response.head.url = request.url
        return response
    }
}
