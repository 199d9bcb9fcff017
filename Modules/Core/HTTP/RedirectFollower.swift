import FoundationEssentials

/// Sends requests over a transport and goes where redirects lead, each step through the same transport.
///
/// The method changes as RFC 9110 section 15.4 says. Credentials do not follow to another origin, and no redirect leads
/// out of `http` and `https`.
package struct RedirectFollower: Sendable {
    private let transport: any HTTPTransport
    private let limit: Int
    private let hook: Hook?
    private let time: any TimeSource

    /// Is told the head of a redirect and the request that would be sent next; returns the one to send, nil for none.
    package typealias Hook = @Sendable (HTTPResponseHead, HTTPRequest) async throws -> HTTPRequest?

    /// - Parameters:
    ///   - limit: Most redirects in a row.
    ///   - time: Tells how long the bodies of redirects, which nobody wants, are waited for.
    package init(_ transport: any HTTPTransport, limit: Int, hook: Hook? = nil, time: any TimeSource = SystemClock()) {
        self.transport = transport
        self.limit = limit
        self.hook = hook
        self.time = time
    }

    /// Returns the first answer that leads nowhere else; a redirect without a `Location` is such an answer too.
    ///
    /// - Throws: ``RedirectError``, or what the transport or the hook throws.
    package func send(_ first: HTTPRequest) async throws -> HTTPResponse {
        let response = try await transport.send(first)
        // Most lead nowhere else.
        guard response.head.isRedirect else { return response }
        return try await follow(response, of: first)
    }

    private func follow(_ answer: HTTPResponse, of first: HTTPRequest) async throws -> HTTPResponse {
        var (request, response) = (first, answer)
        for step in 0...max(0, limit) {
            if step > 0 { response = try await transport.send(request) }
            do {
                guard let next = try Redirect.request(after: request, head: response.head) else { return response }
                guard step < limit else { break }
                request = try await allowed(next, after: response.head)
            } catch {
                response.body.cancel()
                throw error
            }
            try await response.body.drain(time)
        }
        response.body.cancel()
        throw RedirectError(message: "more than \(limit) redirects from \(first.url.shown)")
    }

    private func allowed(_ next: HTTPRequest, after head: HTTPResponseHead) async throws -> HTTPRequest {
        guard let hook else { return next }
        guard let chosen = try await hook(head, next) else {
            throw RedirectError(message: "the redirect to \(next.url.shown) is refused")
        }
        guard ["http", "https"].contains(chosen.url.scheme?.lowercased()) else {
            throw RedirectError(message: "the redirect is to go to \(chosen.url.shown.debugDescription)")
        }
        return chosen
    }
}
