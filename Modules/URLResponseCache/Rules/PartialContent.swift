import AlcedoCore
import FoundationEssentials

/// Parts of a content, and how they become one. Source: RFC 9111 sections 3.3 and 3.4, RFC 9110 section 14.
enum PartialContent {
    /// The bytes that `stored` has of the whole.
    static func bytes(of stored: StoredResponse) -> Range<Int> {
        let start = stored.part?.offset ?? 0
        return start..<(start + stored.body.count)
    }

    /// The bytes of the whole that a range asks for, when all of them are stored; nil otherwise.
    static func stored(_ range: ByteRange, of stored: StoredResponse) -> Range<Int>? {
        guard stored.hasOffsets else { return nil }
        guard let part = stored.part else { return range.resolved(in: stored.body.count) }
        let bytes = bytes(of: stored)
        let wanted: Range<Int>?
        switch range {
        case .from(let first, let last?) where first <= last && last < Int.max: wanted = first..<(last + 1)
        default: wanted = part.completeCount.flatMap { range.resolved(in: $0) }
        }
        guard var wanted else { return nil }
        if let complete = part.completeCount { wanted = wanted.clamped(to: 0..<complete) }
        return !wanted.isEmpty && bytes.lowerBound <= wanted.lowerBound && wanted.upperBound <= bytes.upperBound
            ? wanted : nil
    }

    /// Whether the rest of the content can be asked for and put behind what is stored.
    static func isBeginning(_ stored: StoredResponse) -> Bool {
        guard let part = stored.part, let tag = stored.entityTag else { return false }
        return part.offset == 0 && !tag.isWeak && stored.hasOffsets && !stored.body.isEmpty
    }

    /// The request for the rest of a content whose beginning is stored: if it is still the same content, else for all
    /// of it.
    static func request(_ request: HTTPRequest, completing stored: StoredResponse) -> HTTPRequest {
        var rest = request
        rest.fields["Range"] = "bytes=\(stored.body.count)-"
        rest.fields["If-Range"] = stored.head.fields["ETag"]
        return rest
    }

    /// Whether an answer is the rest of the content whose beginning is stored.
    static func isRest(_ head: HTTPResponseHead, of stored: StoredResponse) -> Bool {
        guard head.status == 206, isSameContent(head, stored), !head.fields.contains("Content-Encoding"),
            let range = head.fields["Content-Range"].flatMap({ ContentRange($0) })
        else { return false }
        // Another length of the whole is another content, whatever the tags say.
        if let known = stored.part?.completeCount, known != range.completeCount { return false }
        return range.bytes.lowerBound == stored.body.count && range.bytes.upperBound == range.completeCount
    }

    /// Two parts of one content as one, when they touch; nil otherwise, or when they are not surely of one content.
    static func combined(_ stored: StoredResponse, with newer: StoredResponse) -> StoredResponse? {
        guard let part = stored.part, let newPart = newer.part, isSameContent(newer.head, stored), newer.hasOffsets,
            part.completeCount == nil || newPart.completeCount == nil || part.completeCount == newPart.completeCount
        else { return nil }
        let (old, new) = (bytes(of: stored), bytes(of: newer))
        guard old.lowerBound <= new.upperBound, new.lowerBound <= old.upperBound else { return nil }
        let complete = newPart.completeCount ?? part.completeCount
        var combined = newer
        let before = old.lowerBound < new.lowerBound ? stored.body.prefix(new.lowerBound - old.lowerBound) : Data()
        let after = old.upperBound > new.upperBound ? stored.body.suffix(old.upperBound - new.upperBound) : Data()
        combined.body = before + newer.body + after
        combined.part = ContentPart(offset: min(old.lowerBound, new.lowerBound), completeCount: complete)
        return whole(combined)
    }

    /// The answer as a whole one when the part has every byte, with the length that the whole has.
    static func whole(_ stored: StoredResponse) -> StoredResponse {
        guard let part = stored.part, part.offset == 0, part.completeCount == stored.body.count else { return stored }
        var whole = stored
        whole.part = nil
        whole.head.fields["Content-Length"] = String(stored.body.count)
        return whole
    }

    /// Whether a body of so many bytes is all that the head declares.
    static func isWhole(_ count: Int, under head: HTTPResponseHead) -> Bool {
        let range = head.status == 206 ? head.fields["Content-Range"].flatMap { ContentRange($0)?.bytes } : nil
        return range.map { $0.count == count } ?? head.announces(count)
    }

    /// Whether both have the same strong validator. RFC 9110 section 15.3.7.3.
    static func isSameContent(_ head: HTTPResponseHead, _ stored: StoredResponse) -> Bool {
        guard let tag = head.fields.entityTag, let own = stored.entityTag else { return false }
        return tag.matchesStrongly(own)
    }
}
