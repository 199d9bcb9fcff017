import AlcedoRuntime
import FoundationEssentials

extension HTTPTransport {
    /// Sends a request and follows redirects, each step through this transport.
    ///
    /// ```swift
    /// let response = try await transport.sendFollowingRedirects(HTTPRequest(url: url))
    /// ```
    ///
    /// The method changes by the rules of RFC 9110 section 15.4. Credentials are not sent to another origin. A redirect
    /// to another scheme than `http` or `https` is an error. The `Downloader` of AlcedoDownloader follows redirects
    /// itself.
    ///
    /// - Parameters:
    ///   - request: The first request.
    ///   - maximumRedirectCount: The maximum number of consecutive redirects. Values below zero count as zero. Default:
    ///     20, as in the Fetch standard.
    /// - Returns: The first response that is not a redirect, or is a redirect without a `Location`.
    /// - Throws: ``HTTPTransportError`` with `badRedirect` if the redirects exceed the limit or a target is not an HTTP
    ///   URL; `CancellationError` if the task is canceled; otherwise, the transport's error.
    public func sendFollowingRedirects(
        _ request: HTTPRequest, maximumRedirectCount: Int = 20
    ) async throws -> HTTPResponse {
        try await RedirectFollower(self, limit: maximumRedirectCount).send(request)
    }
}

/// A client that sends requests over a transport and follows redirects.
package struct RedirectFollower: Sendable {
    private let transport: any HTTPTransport
    private let limit: Int
    private let hook: Hook?
    private let sleep: Sleep

    /// A closure that receives the head of a redirect and the next request. It returns the request to send; nil rejects
    /// the redirect.
    package typealias Hook = @Sendable (HTTPResponseHead, HTTPRequest) async throws -> HTTPRequest?

    /// A closure that returns after a duration, or throws `CancellationError` if the task is canceled first.
    package typealias Sleep = @Sendable (Duration) async throws -> Void

    /// Creates a follower.
    ///
    /// - Parameters:
    ///   - transport: The transport of the requests. It returns redirects, as every ``HTTPTransport`` does.
    ///   - limit: The maximum number of consecutive redirects.
    ///   - hook: Inspects each redirect. Default: nil, all are followed.
    ///   - sleep: Limits the time for reading the bodies of redirects. Default: real time.
    package init(
        _ transport: any HTTPTransport, limit: Int, hook: Hook? = nil,
        sleep: @escaping Sleep = { try await Task.sleep(for: $0, clock: .continuous) }
    ) {
        self.transport = transport
        self.limit = max(0, limit)
        self.hook = hook
        self.sleep = sleep
    }

    /// Sends a request and follows redirects. Returns the first response that is not a redirect, or is a redirect
    /// without a `Location`.
    ///
    /// - Throws: The error of the transport or the hook, or `CancellationError` if the task is canceled.
    ///   ``HTTPTransportError`` with `badRedirect` if the redirects exceed the limit, if the hook rejects one, or if a
    ///   target or the hook's request has a URL that is not HTTP.
    package func send(_ first: HTTPRequest) async throws -> HTTPResponse {
        let response = try await transport.send(first)
        // Most responses are not redirects.
        guard response.head.isRedirect else { return response }
        return try await follow(response, of: first)
    }

    private func follow(_ redirect: HTTPResponse, of first: HTTPRequest) async throws -> HTTPResponse {
        var (request, response) = (first, redirect)
        var variance = VaryingFields.none
        for step in 0...limit {
            if step > 0 { response = try await transport.send(request) }
            variance = variance.union(
                VaryingFields(of: response.head.fields).asSeen(from: first, sending: request))
            do {
                guard let next = try Redirect.request(after: request, head: response.head) else {
                    response.redirectVariance = variance
                    return response
                }
                guard step < limit else { break }
                request = try await allowed(next, after: response.head)
            } catch {
                response.body.cancel()
                throw error
            }
            try await response.body.drain(sleep)
        }
        response.body.cancel()
        throw HTTPTransportError(.badRedirect, "more than \(limit) redirects from \(first.url.shown)")
    }

    private func allowed(_ next: HTTPRequest, after head: HTTPResponseHead) async throws -> HTTPRequest {
        guard let hook else { return next }
        guard var chosen = try await hook(head, next) else {
            throw HTTPTransportError(.badRedirect, "the redirect hook rejected the redirect to \(next.url.shown)")
        }
        guard ["http", "https"].contains(chosen.url.scheme?.lowercased()) else {
            throw HTTPTransportError(
                .badRedirect, "the redirect hook returned a URL that is not HTTP: \(chosen.url.shown.debugDescription)")
        }
        if chosen.fields == next.fields {
            chosen.audience = next.audience
        } else {
            chosen.audience = HTTPRequest.Audience(of: chosen, identifier: next.audience?.identifier)
        }
        return chosen
    }
}

/// The rules for the request after a redirect. Source: RFC 9110 section 15.4.
enum Redirect {
    /// The fields that must not be sent to another origin.
    private static let secrets = ["Authorization", "Cookie", "Proxy-Authorization", "Host"]

    /// The fields that describe a body.
    private static let bodyFields = [
        "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location",
        "Transfer-Encoding",
    ]

    /// Returns the next request; nil if the response is not a redirect, or has no `Location`.
    ///
    /// - Throws: ``HTTPTransportError`` with `badRedirect` for a target that is not an HTTP URL.
    static func request(after request: HTTPRequest, head: HTTPResponseHead) throws(HTTPTransportError) -> HTTPRequest? {
        guard head.isRedirect, let location = head.fields.values(of: "Location").first else { return nil }
        // Bytes above ASCII are represented as code points.
        let bytes = location.latin1 ?? Array(location.utf8)
        guard
            let target = WebURL(bytes, relativeTo: WebURL(request.url.absoluteString)).flatMap({ URL(string: $0.text) })
        else {
            throw HTTPTransportError(
                .badRedirect,
                "the redirect target is not an HTTP URL: \(location.withoutCredentials.excerpt.debugDescription)")
        }
        var next = request
        next.url = target
        if target.origin != request.url.origin {
            for name in secrets { next.fields[name] = nil }
        }
        // 303 changes every method except HEAD to GET. By long-standing practice, 301 and 302 change POST to GET.
        let turnsIntoGet = head.status == 303 || (head.status < 303 && request.method == .post)
        if turnsIntoGet, request.method != .head, request.method != .get {
            next.method = .get
            next.body = nil
            for name in bodyFields { next.fields[name] = nil }
        }
        return next
    }
}

extension HTTPResponseHead {
    /// Whether the status redirects the client to another URL with the same or a similar request.
    package var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }
}

extension HTTPBody {
    /// The maximum number of bytes read from a discarded body.
    private static let drainLimit = 16 << 10
    /// The maximum time for reading these bytes: about one round trip, the cost of a new connection.
    private static let drainTime = Duration.milliseconds(100)

    /// Reads a discarded body to its end, so that the connection can be reused and a cache on the path can store the
    /// body. Cancels the body if it exceeds 16 KiB or takes longer than 100 ms. Ignores errors of the transfer.
    ///
    /// - Throws: `CancellationError`.
    package func drain(_ sleep: @escaping RedirectFollower.Sleep) async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await collect(limit: Self.drainLimit) }
                group.addTask {
                    try await sleep(Self.drainTime)
                    throw HTTPTransportError(.timedOut, "draining the body exceeded its time limit")
                }
                defer { group.cancelAll() }
                do {
                    try await group.next()
                } catch {
                    // The group waits for all its tasks. After this call, the task that reads the body ends.
                    cancel()
                    throw error
                }
            }
        } catch let error where !(error is CancellationError) {
            // The body exceeds a limit or has failed, so it is not read further.
        }
    }
}
