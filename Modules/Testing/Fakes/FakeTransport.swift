public import AlcedoHTTP
public import FoundationEssentials

/// A transport without a network. A closure responds, and the transport records the requests.
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

    /// Creates a transport that responds with a closure.
    ///
    /// - Parameter respond: A closure that returns the response to a request, or throws an error. It is called for each
    ///   request, on the task that sends it.
    public init(_ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) { self.respond = respond }

    /// Creates a transport that responds to every request with the same body, status and fields. Default: status 200
    /// and no fields.
    public convenience init(body: Data, status: Int = 200, fields: HTTPFields = HTTPFields()) {
        self.init {
            HTTPResponse(head: HTTPResponseHead(url: $0.url, status: status, fields: fields), body: HTTPBody(body))
        }
    }

    /// The requests received so far, in the order of their arrival.
    public var requests: [HTTPRequest] { received.value }

    /// Returns once at least `count` requests, by default one, have arrived. Throws `CancellationError` when the call
    /// must wait and the task is canceled.
    public func waitForRequests(count: Int = 1) async throws { try await received.waitUntil { $0.count >= count } }

    /// Records the request and returns what the closure returns. Throws what the closure throws.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        received.update { $0.append(request) }
        return try await respond(request)
    }
}
