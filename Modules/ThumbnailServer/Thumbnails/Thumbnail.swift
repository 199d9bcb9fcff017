import Alcedo
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A finished thumbnail in its encoded form.
struct Thumbnail: Sendable, Equatable {
    var data: Data
    var type: String
    /// The dates until which the thumbnail may be used; nil if it must not be stored.
    var freshness: ThumbnailFreshness?
    /// The strong entity tag, a digest of the bytes.
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

    /// Creates a thumbnail from an entry of a data cache. Returns nil if the metadata of the entry is not valid.
    ///
    /// - Parameters:
    ///   - entry: The cache entry, in the form that the property ``entry`` returns.
    ///   - maximumAge: The maximum age. The server that stored the entry may have used a greater one.
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

    /// The entry for a data cache; nil if the thumbnail must not be stored.
    var entry: CachedData? {
        guard let freshness else { return nil }
        let dates = [freshness.client, freshness.start].map { "\(Timestamp($0).milliseconds)" }
        let lines = ([type, tag] + dates).joined(separator: "\n")
        return CachedData(data, metadata: Data(lines.utf8), expiry: freshness.shared)
    }

    /// Returns the response with the thumbnail, or 304 (Not Modified) if the client has a current copy. Caches may use
    /// the response at most until `end`, the expiry of the URL; nil for no limit.
    func response(to head: RequestHead, isNegotiated: Bool, now: Date, until end: Date?) -> ServerResponse {
        let isKnown = head.ifNoneMatch.map { matches($0) } ?? false
        var response = ServerResponse(status: isKnown ? 304 : 200, body: data)
        if !isKnown { response.fields["Content-Type"] = type }
        response.fields["ETag"] = tag
        response.fields["Cache-Control"] = freshness?.cacheControl(now: now, until: end) ?? "no-store"
        if isNegotiated { response.fields["Vary"] = "Accept" }
        return response
    }

    /// Whether a list of entity tags is `*` or contains this tag, strong or weak. Source: RFC 9110 section 13.1.2.
    private func matches(_ list: String) -> Bool {
        let members = QuotedList.members(of: list, hasEscapes: false)
        return members == ["*"] || members.contains { $0 == tag || $0 == "W/\(tag)" }
    }
}

/// The dates until which a thumbnail may be used without revalidation.
struct ThumbnailFreshness: Sendable, Equatable {
    /// The date at which the origin sent or last validated the original.
    var start: Date
    /// The date for shared caches, such as this server.
    var shared: Date
    /// The date for the private cache of a client.
    var client: Date

    /// Returns the same dates, limited to `maximumAge` after ``start``.
    func limited(to maximumAge: Duration) -> ThumbnailFreshness {
        let limit = start.addingTimeInterval(Double(maximumAge.milliseconds) / 1000)
        return ThumbnailFreshness(start: start, shared: min(shared, limit), client: min(client, limit))
    }

    /// Whether a shared cache may use the thumbnail. If ``start`` is in the future, the clock was ahead when the
    /// original was fetched. The age is then unknown, and the thumbnail is not fresh.
    func isFresh(at now: Date) -> Bool { Timestamp(start) <= Timestamp(now) && now < shared }

    /// Returns the value of a `Cache-Control` field with lifetimes that end no later than `end`, the expiry of the URL;
    /// nil for no limit. Source: RFC 9111 sections 5.2.2.1 and 5.2.2.10.
    func cacheControl(now: Date, until end: Date?) -> String {
        guard Timestamp(start) <= Timestamp(now) else { return "no-cache" }
        let (shared, client) = (Self.seconds(shared, now, end), Self.seconds(client, now, end))
        guard shared == client else { return "max-age=\(client), s-maxage=\(shared)" }
        return client > 0 ? "max-age=\(client)" : "no-cache"
    }

    private static func seconds(_ date: Date, _ now: Date, _ end: Date?) -> Int {
        Int(min(max(0, min(date, end ?? date).timeIntervalSince(now)), 1e9))
    }
}
