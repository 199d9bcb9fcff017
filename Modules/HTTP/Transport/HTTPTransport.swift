/// A transport that sends one request and returns its response. Wrap a transport in another to add caching, logging or
/// fakes.
///
/// ```swift
/// struct LoggingTransport: HTTPTransport {
///     let transport: any HTTPTransport
///
///     func send(_ request: HTTPRequest) async throws -> HTTPResponse {
///         let response = try await transport.send(request)
///         print(request.method.rawValue, request.url, response.head.status)
///         return response
///     }
/// }
/// ```
///
/// Every transport follows these rules:
///
/// - Calls may come from any task at the same time.
/// - Redirects are returned, not followed. No status is an error.
/// - Content codings that the transport requested are decoded. If a request has its own `Accept-Encoding` or `Range`
///   field, the transport requests no coding, as far as it can choose.
/// - The request's timeouts end the exchange with `timedOut`, before or after the head has arrived.
/// - When the body of a response has ended, ``HTTPResponse/metrics`` returns the metrics of the exchange.
/// - Canceling the task ends the exchange and throws `CancellationError`.
public protocol HTTPTransport: Sendable {
    /// Sends a request, and returns the response when its head has arrived.
    ///
    /// - Throws: ``HTTPTransportError``, or `CancellationError`.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse
}
