public import AlcedoHTTP
public import FoundationEssentials

/// A transport without a network: a closure responds, and the requests are recorded.
///
/// ```swift
/// import AlcedoDownloader
/// import AlcedoHTTP
/// import AlcedoTesting
///
/// let transport = FakeTransport { _ in throw HTTPTransportError(.offline, "no network in this test") }
/// let downloader = Downloader(transport: transport)
/// ```
///
/// Calls may come from any task.
public final class FakeTransport: HTTPTransport {
    private let respond: @Sendable (HTTPRequest) async throws -> HTTPResponse
    private let received = Watched<[HTTPRequest]>([])

    /// - Parameter respond: Called for each request, on the task that sends it.
    public init(_ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) { self.respond = respond }

    /// Responds to every request with these bytes.
    public convenience init(body: Data, status: Int = 200, fields: HTTPFields = HTTPFields()) {
        self.init {
            HTTPResponse(head: HTTPResponseHead(url: $0.url, status: status, fields: fields), body: HTTPBody(body))
        }
    }

    /// The requests so far, in the order of their arrival.
    public var requests: [HTTPRequest] { received.value }

    /// Returns once at least `count` requests have arrived. Throws `CancellationError` when the task is cancelled first.
    public func waitForRequests(count: Int) async throws { try await received.waitUntil { $0.count >= count } }

    /// Records the request and returns what the closure returns. Throws what the closure throws.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        received.update { $0.append(request) }
        return try await respond(request)
    }
}
