import Alcedo
import FoundationEssentials

/// Until when an answer may be used without asking.
struct Freshness: Sendable, Equatable {
    /// When the origin gave the original, or last said that it had not changed.
    var start: Date
    /// By caches that many share, such as this server.
    var shared: Date
    /// By the cache of one client.
    var client: Date

    /// The same, but at most for so long after ``start``.
    func limited(to life: Duration) -> Freshness {
        let limit = start.addingTimeInterval(Double(life.milliseconds) / 1000)
        return Freshness(start: start, shared: min(shared, limit), client: min(client, limit))
    }

    /// As a `Cache-Control` field. Source: RFC 9111 sections 5.2.2.1 and 5.2.2.10.
    ///
    /// - Parameter end: When the URL ceases to be worth anything; nil: never.
    func cacheControl(now: Date, until end: Date?) -> String {
        let (shared, client) = (Self.seconds(shared, now, end), Self.seconds(client, now, end))
        guard shared == client else { return "max-age=\(client), s-maxage=\(shared)" }
        return client > 0 ? "max-age=\(client)" : "no-cache"
    }

    private static func seconds(_ date: Date, _ now: Date, _ end: Date?) -> Int {
        Int(min(max(0, min(date, end ?? date).timeIntervalSince(now)), 1e9))
    }
}
