import AlcedoCore
public import AlcedoHTTP
public import FoundationEssentials

/// A request that a ``LoopbackOrigin`` has received.
public struct OriginRequest: Sendable, Hashable {
    /// The method.
    public let method: HTTPMethod
    /// The path with its query, not decoded.
    public let target: String
    /// The header fields.
    public let fields: HTTPFields
    /// The complete body; empty if the request has none.
    public let body: Data
    /// The number of the connection that carried the request, beginning with 1.
    package let connection: Int
    /// The number of the request among all requests of the origin, beginning with 1.
    package let number: Int
    /// The number of requests for this target so far, including this request. Only the first 20,000 different targets
    /// are counted. For any other target, the value is always 1.
    public let attempt: Int

    /// The target up to its query, not decoded.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The target after its question mark, not decoded; nil without a question mark.
    package var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }
}

/// The requests and counts that a ``LoopbackOrigin`` has recorded so far, without requests that it rejects before it
/// calls the handler. After a stop, the numbers of open connections, disconnects and stalls are undefined.
package struct OriginState: Sendable {
    /// The requests in the order of their arrival, limited to the log limit of the origin.
    package internal(set) var requests: [OriginRequest] = []
    /// The number of requests that have arrived, including those beyond the log limit.
    package internal(set) var requestCount = 0
    /// The number of connections that have been accepted.
    package internal(set) var connectionCount = 0
    /// The number of open connections.
    package internal(set) var openConnectionCount = 0
    /// The number of connections that the client has ended. Connections that the origin closed first do not count.
    package internal(set) var disconnectCount = 0
    /// The number of replies that are stalled.
    package internal(set) var stalledCount = 0
    /// The number of requests by target. At the log limit, no further targets are added.
    var counts: [String: Int] = [:]

    /// Returns the number of requests for a path. A path with a query counts requests with that query only. A path
    /// without a query counts requests with any query or none. Targets beyond the log limit are not counted.
    package func requestCount(for path: String) -> Int {
        if path.contains("?") { return counts[path] ?? 0 }
        return counts.reduce(0) { sum, entry in
            entry.key.prefix { $0 != "?" } == path ? sum + entry.value : sum
        }
    }
}

/// The limits and the address of a ``LoopbackOrigin``.
package struct OriginOptions: Sendable {
    /// The maximum number of bytes in the head of a request. The response to a longer head is 431. Values below 64
    /// count as 64. Default: 16 KiB.
    package var headLimit = 16 << 10
    /// The maximum number of bytes in the body of a request. The response to a longer body is 413. Values below 0 count
    /// as 0. Default: 16 MiB.
    package var bodyLimit = 16 << 20
    /// The maximum number of requests in the log, and of different targets that are counted. Later requests, for any
    /// target, still count in the total. Default: 20,000.
    package var logLimit = 20_000
    /// The maximum number of open connections. Further ones wait to be accepted. Default: 512.
    package var connectionLimit = 512

    /// The last byte of the address 127.0.0.x on which the server listens. Linux has all of these addresses, so that
    /// one machine can be several. Default: 1.
    package var machine: UInt8 = 1

    /// Creates the default options.
    package init() {}
}
