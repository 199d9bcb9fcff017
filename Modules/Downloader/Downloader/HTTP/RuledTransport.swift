import AlcedoCore
import FoundationEssentials

/// Sends requests and takes answers as the rules say.
final class RuledTransport: Sendable {
    let rules: DownloadRules
    let time: any TimeSource
    private let follower: RedirectFollower

    init(_ transport: any HTTPTransport, rules: DownloadRules, time: any TimeSource) {
        (self.rules, self.time) = (rules, time)
        let hook = rules.redirects.hook.map { hook -> RedirectFollower.Hook in
            { head, next in try await AppClosure.run("the redirect hook") { try await hook(head, next) } }
        }
        follower = RedirectFollower(transport, limit: rules.redirects.limit, hook: hook, time: time)
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
        guard let limit = rules.timeouts.firstByte else { return try await follower.send(request) }
        return try await send(request, within: limit)
    }

    private func send(_ request: HTTPRequest, within limit: Duration) async throws -> HTTPResponse {
        let deadline = Deadline(limit: limit, time: time, subject: "no answer")
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
