/// What a ``LoopbackOrigin`` has seen so far.
public struct OriginState: Sendable {
    /// The requests in the order they arrived; no more than the origin's log limit.
    public internal(set) var requests: [OriginRequest] = []
    /// How many requests have arrived, those that the log no longer takes included.
    public internal(set) var requestCount = 0
    /// How many connections have been accepted.
    public internal(set) var connectionCount = 0
    /// How many connections are open now.
    public internal(set) var openConnectionCount = 0
    /// How many connections the client has ended; those that the origin closed first do not count.
    public internal(set) var disconnectCount = 0
    /// How many replies wait for a release now.
    public internal(set) var stalledCount = 0
    /// Requests by target; no new targets above the log limit.
    var counts: [String: Int] = [:]

    /// How often a path was asked for: with this query when it has one, else with any query or none.
    public func requestCount(for path: String) -> Int {
        if path.contains("?") { return counts[path] ?? 0 }
        return counts.reduce(0) { sum, entry in
            entry.key.prefix { $0 != "?" } == path ? sum + entry.value : sum
        }
    }
}
