import Alcedo
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A finished picture, as it is sent.
struct Thumbnail: Sendable, Equatable {
    var data: Data
    /// The media type.
    var type: String
    /// Nil: nobody may keep it.
    var freshness: ThumbnailFreshness?
    /// Strong, of the bytes.
    let tag: String

    init(data: Data, type: String, freshness: ThumbnailFreshness?) {
        var digest = SHA256()
        digest.update(data.bytes)
        let tag = "\"\(digest.finalizedHexadecimal().prefix(32))\""
        self.init(data: data, type: type, freshness: freshness, tag: tag)
    }

    private init(data: Data, type: String, freshness: ThumbnailFreshness?, tag: String) {
        (self.data, self.type, self.freshness, self.tag) = (data, type, freshness, tag)
    }

    /// Nil when the lines are none of ours.
    ///
    /// - Parameter life: The longest; whoever stored it may have had another.
    init?(_ entry: CachedData, maximumAge: Duration) {
        let lines = String(decoding: entry.metadata, as: UTF8.self).split(separator: "\n")
        guard lines.count == 4, lines[0].hasPrefix("image/"), lines[1].hasPrefix("\""), let client = Int64(lines[2]),
            let start = Int64(lines[3]), let expiry = entry.expiry
        else { return nil }
        let freshness = ThumbnailFreshness(
            start: Timestamp(milliseconds: start).date, shared: expiry, client: Timestamp(milliseconds: client).date)
        self.init(
            data: entry.data, type: String(lines[0]), freshness: freshness.limited(to: maximumAge),
            tag: String(lines[1]))
    }

    /// As a data cache keeps it; nil when nobody may keep it.
    var entry: CachedData? {
        guard let freshness else { return nil }
        let dates = [freshness.client, freshness.start].map { "\(Timestamp($0).milliseconds)" }
        let lines = ([type, tag] + dates).joined(separator: "\n")
        return CachedData(data, metadata: Data(lines.utf8), expiry: freshness.shared)
    }

    /// The answer with it, or the word that the client's copy is as good.
    ///
    /// - Parameter end: When the URL ceases to be worth anything; nil: never.
    func response(to head: RequestHead, isNegotiated: Bool, now: Date, until end: Date?) -> ServerResponse {
        let isKnown = head.ifNoneMatch.map { matches($0) } ?? false
        var response = ServerResponse(status: isKnown ? 304 : 200, body: data)
        if !isKnown { response.fields["Content-Type"] = type }
        response.fields["ETag"] = tag
        response.fields["Cache-Control"] = freshness?.cacheControl(now: now, until: end) ?? "no-store"
        if isNegotiated { response.fields["Vary"] = "Accept" }
        return response
    }

    /// Whether a list of tags has this one, strong or weak, or is the star that stands for all. Source: RFC 9110 section
    /// 13.1.2.
    private func matches(_ list: String) -> Bool {
        let members = QuotedList.members(of: list, hasEscapes: false)
        return members == ["*"] || members.contains { $0 == tag || $0 == "W/\(tag)" }
    }
}

/// Until when an answer may be used without asking.
struct ThumbnailFreshness: Sendable, Equatable {
    /// When the origin gave the original, or last said that it had not changed.
    var start: Date
    /// By caches that many share, such as this server.
    var shared: Date
    /// By the cache of one client.
    var client: Date

    /// The same, but at most for so long after ``start``.
    func limited(to maximumAge: Duration) -> ThumbnailFreshness {
        let limit = start.addingTimeInterval(Double(maximumAge.milliseconds) / 1000)
        return ThumbnailFreshness(start: start, shared: min(shared, limit), client: min(client, limit))
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
