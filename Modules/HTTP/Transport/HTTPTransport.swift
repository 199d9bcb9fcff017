/// Sends one request and returns its answer. Wrap one in another to add caching, logging or fakes.
///
/// Calls may come from any task at the same time. Redirects are returned, not followed; no status is an error; content
/// codings the transport asked for are undone, and it asks for none, where it can choose, when the request has an
/// `Accept-Encoding` or a `Range` of its own. The request's timeouts end the exchange with `timedOut`, whether its head
/// has arrived or not; what the exchange took is in the answer's record from the end of its body on. Cancelling the task ends the exchange and throws `CancellationError`.
public protocol HTTPTransport: Sendable {
    /// Returns when the head of the answer has arrived.
    ///
    /// - Throws: ``HTTPTransportError``, or `CancellationError`.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse
}
