import AlcedoCore
public import AlcedoHTTP
public import FoundationEssentials

/// A request as a ``LoopbackOrigin`` received it.
public struct OriginRequest: Sendable, Hashable {
    /// The method.
    public let method: HTTPMethod
    /// The path with its query, as it was sent: not decoded.
    public let target: String
    /// The header fields.
    public let fields: HTTPFields
    /// The whole body; empty when there is none.
    public let body: Data
    /// Which connection carried it; the first is 1.
    public let connection: Int
    /// Its place among all requests of the origin; the first is 1.
    package let number: Int
    /// How often this target has been asked for, this time included.
    public let attempt: Int

    /// The target up to its query, not decoded.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The target after its question mark, not decoded; nil when there is none.
    package var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }
}

/// What a ``LoopbackOrigin`` has seen so far.
package struct OriginState: Sendable {
    /// The requests in the order they arrived; no more than the origin's log limit.
    package internal(set) var requests: [OriginRequest] = []
    /// How many requests have arrived, those that the log no longer takes included.
    package internal(set) var requestCount = 0
    /// How many connections have been accepted.
    package internal(set) var connectionCount = 0
    /// How many connections are open now.
    package internal(set) var openConnectionCount = 0
    /// How many connections the client has ended; those that the origin closed first do not count.
    package internal(set) var disconnectCount = 0
    /// How many replies wait for a release now.
    package internal(set) var stalledCount = 0
    /// Requests by target; no new targets above the log limit.
    var counts: [String: Int] = [:]

    /// How often a path was asked for: with this query when it has one, else with any query or none.
    package func requestCount(for path: String) -> Int {
        if path.contains("?") { return counts[path] ?? 0 }
        return counts.reduce(0) { sum, entry in
            entry.key.prefix { $0 != "?" } == path ? sum + entry.value : sum
        }
    }
}

/// The limits of a ``LoopbackOrigin``.
package struct OriginOptions: Sendable {
    /// Most bytes of a request's head; a longer one is answered 431. Default: 16 KiB.
    package var headLimit = 16 << 10
    /// Most bytes of a request's body; a longer one is answered 413. Default: 16 MiB.
    package var bodyLimit = 16 << 20
    /// Most requests that are kept in the log; later ones are counted only. Default: 20,000.
    package var logLimit = 20_000
    /// Most connections at once; further ones wait to be accepted. Default: 512.
    package var connectionLimit = 512

    /// The defaults.
    package init() {}
}
