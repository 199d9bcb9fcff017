import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// Sends requests and takes answers as the rules say.
final class PolicyTransport: Sendable {
    let rules: DownloadRules
    let clock: any TimeSource
    /// Runs tasks that go with a transfer; nil is Swift's own executor.
    let taskExecutor: (any TaskExecutor)?
    private let follower: RedirectFollower

    init(
        _ transport: any HTTPTransport, rules: DownloadRules, clock: any TimeSource, taskExecutor: (any TaskExecutor)?
    ) {
        (self.rules, self.clock, self.taskExecutor) = (rules, clock, taskExecutor)
        let hook = rules.redirectHook.map { hook -> RedirectFollower.Hook in
            { head, next in try await AppClosure.run("the redirect hook") { try await hook(head, next) } }
        }
        follower = RedirectFollower(transport, limit: rules.maximumRedirectCount, hook: hook, sleep: clock.sleep)
    }

    /// The request as the rules change it.
    ///
    /// - Throws: ``DownloadError`` `declined` or `hook`, or `CancellationError`.
    func prepare(_ request: HTTPRequest) async throws -> HTTPRequest {
        guard let modify = rules.modifyRequest else { return request }
        guard let modified = try await AppClosure.run("the request modifier", { try await modify(request) }) else {
            throw DownloadError(.declined, "the app does not want \(request.url.shown) sent")
        }
        return modified
    }

    /// Sends a request, and returns when the head of its last answer has arrived.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let request = rules.completed(request)
        guard let limit = rules.firstByteTimeout else { return try await follower.send(request) }
        return try await send(request, within: limit)
    }

    private func send(_ request: HTTPRequest, within limit: Duration) async throws -> HTTPResponse {
        let deadline = Deadline(limit: limit, clock: clock, subject: "no answer")
        return try await deadline.run { [follower] in try await follower.send(request) }
    }

    /// The head as the rules change it, if its status is one that brings a content.
    func accepted(_ head: HTTPResponseHead) async throws -> HTTPResponseHead {
        guard let modify = rules.modifyResponse else {
            try check(head)
            return head
        }
        let head = try await modified(head, modify)
        try check(head)
        return head
    }

    private func check(_ head: HTTPResponseHead) throws(DownloadError) {
        if head.status == 304 { throw DownloadError(.notModified, "\(head.url.shown) has not changed", head: head) }
        if head.isRedirect {
            throw DownloadError(
                .badRedirect, "the server redirects without saying where: \(head.url.shown)", head: head)
        }
        guard rules.acceptsStatus(head.status) else {
            throw DownloadError(
                .status(head.status), "the server answered \(head.status) for \(head.url.shown)", head: head)
        }
    }

    private func modified(
        _ head: HTTPResponseHead, _ modify: @Sendable (HTTPResponseHead) async throws -> HTTPResponseHead?
    ) async throws -> HTTPResponseHead {
        guard let modified = try await AppClosure.run("the response modifier", { try await modify(head) }) else {
            throw DownloadError(
                .declined, "the app does not want the answer of \(head.url.shown)", head: head)
        }
        return modified
    }
}

/// A closure of the app's, of those in the rules.
enum AppClosure {
    /// Runs one, and names what it is where it fails.
    ///
    /// - Throws: ``DownloadError``, `hook` for errors that are none, or `CancellationError`.
    static func run<Value: Sendable>(_ name: String, _ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch let error as CancellationError {
            throw error
        } catch let error as DownloadError {
            throw error
        } catch {
            throw DownloadError(.hook, "\(name) failed: \(error)", cause: error)
        }
    }
}

/// Ends work whose time is up.
struct Deadline: Sendable {
    /// Zero or less is no limit.
    let limit: Duration?
    let clock: any TimeSource
    /// What was to be done by then, as in "no answer within 5 seconds".
    let subject: String

    /// - Throws: ``/AlcedoHTTP/HTTPTransportError`` `timedOut` after the limit, when the cancelled work has ended; or what `work`
    ///   throws.
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
            throw HTTPTransportError(.timedOut, "\(subject) within \(limit)")
        }
    }
}
