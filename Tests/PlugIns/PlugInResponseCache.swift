import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// A transport that keeps complete responses in memory, and does not heed the rules of HTTP.
actor PlugInResponseCache: HTTPTransport, ResponseCacheAccess {
    private static let maximumByteCount = 1 << 20

    private let network: any HTTPTransport
    private var responses: [URL: (head: HTTPResponseHead, body: Data)] = [:]

    init(network: any HTTPTransport) { self.network = network }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard request.method == .get else { return try await network.send(request) }
        if request.cachePolicy == .useProtocolCachePolicy, let stored = responses[request.url] {
            return Self.response(stored.head, stored.body, from: .fresh)
        }
        let response = try await network.send(request)
        guard response.head.status == 200 else { return response }
        let body = try await response.body.collect(limit: Self.maximumByteCount)
        responses[request.url] = (response.head, body)
        return Self.response(response.head, body, from: .new)
    }

    /// Returns a response that no other cache may store on disk.
    private static func response(
        _ head: HTTPResponseHead, _ body: Data, from source: ResponseSource
    ) -> HTTPResponse {
        var response = HTTPResponse(head: head, body: HTTPBody(body))
        response.responseSource = source
        response.storagePolicy = .allowedInMemoryOnly
        return response
    }

    func hasResponse(for request: HTTPRequest, ignoringMemory: Bool) -> Bool {
        !ignoringMemory && responses[request.url] != nil
    }

    func removeAllResponses(for request: HTTPRequest) { responses[request.url] = nil }

    func removeAll() { responses = [:] }
}
