import AlcedoHTTP
import AlcedoURLResponseCache
import Foundation

/// A request and its options, as one line of standard input.
struct Call: Decodable {
    let op: String?
    let method: String?
    let url: URL
    let headers: [[String]]?
    let body: String?
    let cache: String?
    let redirect: String?
    let timeout_ms: Double?

    /// The cache modes of the Fetch standard. With `no-store`, the response is not stored either.
    private static let policies: [String: HTTPCachePolicy] = [
        "default": .useProtocolCachePolicy, "no-cache": .reloadRevalidatingCacheData,
        "force-cache": .returnCacheDataElseLoad, "only-if-cached": .returnCacheDataDontLoad,
        "reload": .reloadIgnoringLocalAndRemoteCacheData, "no-store": .reloadIgnoringLocalAndRemoteCacheData,
    ]

    /// Sends the request, and returns the JSON object of the response line. Throws `HTTPTransportError`: `timedOut`
    /// after the time limit, by default 10 seconds; `invalidRequest` for invalid options; or the transport's error.
    func response(for id: any Sendable, over transport: CachingTransport) async throws -> [String: any Sendable] {
        guard op ?? "fetch" == "fetch", let policy = Self.policies[cache ?? "default"],
            ["follow", "manual"].contains(redirect ?? "follow"), headers?.allSatisfy({ $0.count == 2 }) ?? true
        else { throw HTTPTransportError(.invalidRequest, "unknown op or mode, or headers that are not pairs") }
        let limit = Duration.milliseconds(min(max(timeout_ms ?? 10_000, 1), 3_600_000))
        let request = HTTPRequest(
            method: HTTPMethod(rawValue: method ?? "GET"), url: url,
            fields: HTTPFields((headers ?? []).map { .init($0[0], $0[1]) }), body: body.map { Data($0.utf8) },
            idleTimeout: limit + .seconds(1), cachePolicy: policy, allowsStoring: cache != "no-store")
        return try await withThrowingTaskGroup { group in
            group.addTask {
                let isManual = redirect == "manual"
                let response = try await isManual ? transport.send(request) : transport.sendFollowingRedirects(request)
                let pairs = { (head: HTTPResponseHead) in head.fields.map { [$0.name, $0.value] } }
                var line: [String: any Sendable] = [
                    "id": id, "status": response.head.status, "headers": pairs(response.head),
                    "body_base64": try await response.body.collect(limit: 64 << 20).base64EncodedString(),
                    "interim": response.interim.map { [$0.status, pairs($0)] as [any Sendable] },
                ]
                line["from_cache"] = response.responseSource.map { $0 != .new }
                return line
            }
            group.addTask {
                try await Task.sleep(for: limit)
                throw HTTPTransportError(.timedOut, "no complete response within \(limit)")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? [:]
        }
    }
}
