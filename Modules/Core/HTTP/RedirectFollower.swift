import FoundationEssentials

/// Sends requests over a transport and goes where redirects lead, each step through the same transport.
///
/// The method changes as RFC 9110 section 15.4 says. Credentials do not follow to another origin, and no redirect leads
/// out of `http` and `https`.
package struct RedirectFollower: Sendable {
    private let transport: any HTTPTransport
    private let limit: Int

    /// - Parameter limit: Most redirects in a row.
    package init(_ transport: any HTTPTransport, limit: Int) {
        self.transport = transport
        self.limit = limit
    }

    /// Returns the first answer that leads nowhere else; a redirect without a `Location` is such an answer too.
    ///
    /// - Throws: ``RedirectError``, or what the transport throws.
    package func send(_ first: HTTPRequest) async throws -> HTTPResponse {
        var request = first
        for _ in 0...max(0, limit) {
            let response = try await transport.send(request)
            do {
                guard let next = try Redirect.request(after: request, head: response.head) else { return response }
                request = next
            } catch {
                response.body.cancel()
                throw error
            }
            try await response.body.drain()
        }
        throw RedirectError(message: "more than \(limit) redirects from \(first.url.absoluteString)")
    }
}
