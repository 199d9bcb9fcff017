import Alcedo
import FoundationEssentials

/// A finished picture, as it is sent.
struct Thumbnail: Sendable, Equatable {
    var data: Data
    /// The media type.
    var type: String
    /// Until when it may be used without asking; nil: nobody may keep it.
    var freshUntil: Date?
    /// Strong, of the bytes.
    let tag: String

    init(data: Data, type: String, freshUntil: Date?) {
        var digest = SHA256()
        digest.update(data.bytes)
        let tag = "\"\(digest.finalizedHexadecimal().prefix(32))\""
        self.init(data: data, type: type, freshUntil: freshUntil, tag: tag)
    }

    private init(data: Data, type: String, freshUntil: Date?, tag: String) {
        (self.data, self.type, self.freshUntil, self.tag) = (data, type, freshUntil, tag)
    }

    /// Nil when the notes are none of ours.
    init?(_ entry: CachedData) {
        let notes = String(decoding: entry.metadata, as: UTF8.self).split(separator: "\n", maxSplits: 1)
        guard notes.count == 2, notes[0].hasPrefix("image/"), notes[1].hasPrefix("\""), let expiry = entry.expiry else {
            return nil
        }
        self.init(data: entry.data, type: String(notes[0]), freshUntil: expiry, tag: String(notes[1]))
    }

    /// As a data cache keeps it; nil when nobody may keep it.
    var entry: CachedData? {
        guard let freshUntil else { return nil }
        return CachedData(data, metadata: Data("\(type)\n\(tag)".utf8), expiry: freshUntil)
    }

    /// The answer with it, or the word that the client's copy is as good.
    func reply(to head: RequestHead, isNegotiated: Bool, now: Date) -> Reply {
        let isKnown = head.ifNoneMatch.map { matches($0) } ?? false
        var reply = Reply(status: isKnown ? 304 : 200, body: data)
        if !isKnown { reply.fields["Content-Type"] = type }
        reply.fields["ETag"] = tag
        reply.fields["Cache-Control"] = cacheControl(now: now)
        if isNegotiated { reply.fields["Vary"] = "Accept" }
        return reply
    }

    private func cacheControl(now: Date) -> String {
        guard let freshUntil else { return "no-store" }
        let seconds = Int(min(max(0, freshUntil.timeIntervalSince(now)), 1e9))
        return seconds > 0 ? "max-age=\(seconds)" : "no-cache"
    }

    /// Whether a list of tags has this one, strong or weak. No comma is in ours, so what else the list has does no harm.
    /// Source: RFC 9110 section 13.1.2.
    private func matches(_ list: String) -> Bool {
        list.split(separator: ",").contains { member in
            let text = member.filter { $0 != " " && $0 != "\t" }
            return text == "*" || text == tag || text == "W/\(tag)"
        }
    }
}
