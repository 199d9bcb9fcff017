import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A transport that sends requests and checks responses according to the configuration.
final class PolicyTransport: Sendable {
    let configuration: DownloaderConfiguration
    let clock: any TimeSource
    private let follower: RedirectFollower

    init(_ transport: any HTTPTransport, configuration: DownloaderConfiguration, clock: any TimeSource) {
        (self.configuration, self.clock) = (configuration, clock)
        let hook = configuration.redirectHook.map { hook -> RedirectFollower.Hook in
            { head, next in try await ConfigurationHook.run("the redirect hook") { try await hook(head, next) } }
        }
        follower = RedirectFollower(
            transport, limit: configuration.maximumRedirectCount, hook: hook, sleep: clock.sleep)
    }

    /// Returns the request as the configuration modifies it.
    ///
    /// - Throws: ``DownloadError`` `declined` or `hook`, or `CancellationError`.
    func prepare(_ request: HTTPRequest) async throws -> HTTPRequest {
        guard let modify = configuration.modifyRequest else { return request }
        guard let modified = try await ConfigurationHook.run("the request modifier", { try await modify(request) })
        else {
            throw DownloadError(.declined, "the request modifier rejected the request for \(request.url.shown)")
        }
        return modified
    }

    /// Sends a request with the default fields, and follows redirects. Returns when the head of the final response has
    /// arrived.
    ///
    /// - Throws: ``/AlcedoHTTP/HTTPTransportError`` `badRedirect` if a redirect cannot be followed, or `timedOut` after
    ///   the configuration's first-byte timeout; `CancellationError` if the task is canceled; otherwise, the error of
    ///   the transport or of the redirect hook.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let request = configuration.addingDefaultFields(to: request)
        guard let limit = configuration.firstByteTimeout else { return try await follower.send(request) }
        return try await send(request, within: limit)
    }

    private func send(_ request: HTTPRequest, within limit: Duration) async throws -> HTTPResponse {
        let deadline = Deadline(limit: limit, clock: clock, subject: "no response for \(request.url.shown)")
        return try await deadline.run { [follower] in try await follower.send(request) }
    }

    /// Returns the head as the configuration modifies it, if its status is accepted.
    ///
    /// - Throws: ``DownloadError`` if the status is not accepted, or if the configuration's closure declines the
    ///   response or fails; `CancellationError` if the closure throws it.
    func accepted(_ head: HTTPResponseHead) async throws -> HTTPResponseHead {
        guard let modify = configuration.modifyResponse else {
            try check(head)
            return head
        }
        let head = try await modified(head, modify)
        try check(head)
        return head
    }

    private func check(_ head: HTTPResponseHead) throws(DownloadError) {
        if head.status == 304 {
            throw DownloadError(.notModified, "\(head.url.shown) was not modified (status 304)", head: head)
        }
        if head.isRedirect {
            throw DownloadError(
                .badRedirect, "the redirect has no Location: \(head.url.shown)", head: head)
        }
        guard configuration.acceptsStatus(head.status) else {
            // Only a proxy uses this status (RFC 9110 section 15.5.8).
            let sender = head.status == 407 ? "the proxy requires authentication: it" : "the server"
            throw DownloadError(
                .status(head.status), "\(sender) responded with status \(head.status) for \(head.url.shown)",
                head: head)
        }
    }

    private func modified(
        _ head: HTTPResponseHead, _ modify: @Sendable (HTTPResponseHead) async throws -> HTTPResponseHead?
    ) async throws -> HTTPResponseHead {
        guard let modified = try await ConfigurationHook.run("the response modifier", { try await modify(head) }) else {
            throw DownloadError(
                .declined, "the response modifier rejected the response from \(head.url.shown)", head: head)
        }
        return modified
    }
}

/// A namespace for calls of the app's closures in the configuration.
enum ConfigurationHook {
    /// Runs a closure. The message of a `hook` error contains the closure's name.
    ///
    /// - Throws: A ``DownloadError`` or `CancellationError` of the closure, unchanged. For any other error of the
    ///   closure, ``DownloadError`` `hook` with that error as its cause.
    static func run<Value: Sendable>(_ name: String, _ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as CancellationError {
            throw error
        } catch let error as DownloadError {
            throw error
        } catch {
            throw DownloadError(.hook, "\(name) failed: \("\(error)".excerpt)", cause: error)
        }
    }
}

/// A time limit for asynchronous work.
struct Deadline: Sendable {
    /// The maximum duration; nil, zero or less is no limit.
    let limit: Duration?
    let clock: any TimeSource
    /// A closure that returns the first words of the error message.
    private let subject: @Sendable () -> String

    /// Creates a time limit.
    ///
    /// - Parameters:
    ///   - limit: The maximum duration; nil, zero or less is no limit.
    ///   - clock: The clock.
    ///   - subject: The first words of the error message, as in "no response within 5 seconds". Evaluated only for an
    ///     error.
    init(limit: Duration?, clock: any TimeSource, subject: @autoclosure @escaping @Sendable () -> String) {
        self.limit = limit
        self.clock = clock
        self.subject = subject
    }

    /// Runs work and cancels it after the limit.
    ///
    /// - Throws: ``/AlcedoHTTP/HTTPTransportError`` `timedOut` if the limit passes first. This error is thrown after
    ///   the canceled work has ended. Otherwise, the error of `work`, or `CancellationError` if the task is canceled.
    func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard let limit, limit > .zero else { return try await work() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await work() }
            group.addTask { [clock] in
                try await clock.sleep(for: limit)
                return nil
            }
            if let value = try await group.next() ?? nil { return value }
            try Task.checkCancellation()
            throw HTTPTransportError(.timedOut, "\(subject()) within \(limit)")
        }
    }
}
