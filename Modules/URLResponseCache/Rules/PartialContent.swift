import AlcedoCore
import AlcedoHTTP
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
        let requested: Range<Int>?
        switch range {
        case .from(let first, let last?) where first <= last && last < Int.max: requested = first..<(last + 1)
        default: requested = part.completeCount.flatMap { range.resolved(in: $0) }
        }
        guard var requested else { return nil }
        if let complete = part.completeCount { requested = requested.clamped(to: 0..<complete) }
        return !requested.isEmpty && bytes.lowerBound <= requested.lowerBound
            && requested.upperBound <= bytes.upperBound ? requested : nil
    }

    /// Whether the rest of the content can be asked for and put behind what is stored.
    static func isBeginning(_ stored: StoredResponse) -> Bool {
        stored.part?.offset == 0 && stored.rangeCondition != nil && stored.hasOffsets && !stored.body.isEmpty
    }

    /// The request for the rest of a content whose beginning is stored: if it is still the same content, else for all
    /// of it.
    static func request(_ request: HTTPRequest, completing stored: StoredResponse) -> HTTPRequest {
        var rest = request
        rest.fields["Range"] = "bytes=\(stored.body.count)-"
        rest.fields["If-Range"] = stored.rangeCondition
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

    /// The received bytes of an incomplete response as a part of the content. nil when there is nothing to keep: no byte,
    /// more bytes than announced, or the beginning of a whole content of which the rest cannot be requested. Section 3.3.
    ///
    /// - Parameters:
    ///   - announced: The number of bytes that the body should have; nil when nobody knows.
    ///   - hasEnd: Whether the bytes are a message that is complete by its own length, in response to a range without a
    ///     last position. The content then ends with them, wherever its `Content-Range` has it end.
    static func received(_ incomplete: StoredResponse, announced: Int?, hasEnd: Bool) -> StoredResponse? {
        guard !incomplete.body.isEmpty, announced.map({ incomplete.body.count < $0 }) ?? true else { return nil }
        // Who asks for a range may ask for one inside it.
        if let part = incomplete.part {
            // It must not become a whole content that is too short: at its beginning, or together with other parts.
            guard hasEnd, part.offset > 0, incomplete.rangeCondition == nil, let announced,
                part.completeCount == part.offset + announced
            else { return incomplete }
            var end = incomplete
            end.part?.completeCount = part.offset + incomplete.body.count
            return end
        }
        var beginning = incomplete
        beginning.part = ContentPart(offset: 0, completeCount: announced)
        beginning.head.fields["Content-Length"] = nil
        return isBeginning(beginning) ? beginning : nil
    }

    /// Two parts of one content as one, with the fields of the stored one that the newer one does not have. nil when
    /// they do not touch, are not surely of one content, or are larger than `limit` together. Section 3.4.
    static func combined(
        _ stored: StoredResponse, with newer: StoredResponse, for request: HTTPRequest, _ rules: ResponseCacheRules,
        limit: Int
    ) -> StoredResponse? {
        guard let part = stored.part, let newPart = newer.part, isSameContent(newer.head, stored), newer.hasOffsets,
            part.completeCount == nil || newPart.completeCount == nil || part.completeCount == newPart.completeCount
        else { return nil }
        let (old, new) = (bytes(of: stored), bytes(of: newer))
        guard old.lowerBound <= new.upperBound, new.lowerBound <= old.upperBound,
            max(old.upperBound, new.upperBound) - min(old.lowerBound, new.lowerBound) <= limit
        else { return nil }
        let complete = newPart.completeCount ?? part.completeCount
        var combined = Validation.joined(newer, to: stored, for: request, rules)
        let before = old.lowerBound < new.lowerBound ? stored.body.prefix(new.lowerBound - old.lowerBound) : Data()
        let after = old.upperBound > new.upperBound ? stored.body.suffix(old.upperBound - new.upperBound) : Data()
        combined.body = before + newer.body + after
        combined.part = ContentPart(offset: min(old.lowerBound, new.lowerBound), completeCount: complete)
        return completed(combined)
    }

    /// The answer as a whole one when the part has every byte, with the length that the whole has.
    static func completed(_ stored: StoredResponse) -> StoredResponse {
        guard let part = stored.part, part.offset == 0, part.completeCount == stored.body.count else { return stored }
        var complete = stored
        complete.part = nil
        complete.head.fields["Content-Length"] = String(stored.body.count)
        return complete
    }

    /// Whether both have the same strong validator: the tag, or the date of the last change where neither has a tag.
    /// RFC 9110 sections 8.8.2.2 and 15.3.7.3.
    static func isSameContent(_ head: HTTPResponseHead, _ stored: StoredResponse) -> Bool {
        if hasSameTag(head, stored) { return true }
        guard !head.fields.contains("ETag"), !stored.head.fields.contains("ETag"), let changed = stored.strongDate,
            let made = head.fields.date("Date", now: stored.responseTime)
        else { return false }
        return head.fields.date("Last-Modified", now: stored.responseTime) == changed
            && changed.isStrongValidator(inResponseOf: made)
    }

    /// Whether both have the same strong tag.
    static func hasSameTag(_ head: HTTPResponseHead, _ stored: StoredResponse) -> Bool {
        guard let tag = head.fields.entityTag, let own = stored.entityTag else { return false }
        return tag.matchesStrongly(own)
    }
}

extension HTTPResponseHead {
    /// The number of bytes that a complete body has: those of the range in a partial response, else those that the head
    /// declares. nil when the head does not tell. Source: RFC 9110 sections 8.6 and 14.4.
    ///
    /// A coding that was undone on the way leaves no length to compare.
    var announcedByteCount: Int? {
        if status == 206, let range = fields["Content-Range"].flatMap({ ContentRange($0) }) { return range.bytes.count }
        guard !fields.contains("Content-Encoding"), case .bytes(let count) = fields.declaredLength else { return nil }
        return count
    }

    /// Whether a body of so many bytes is complete. Source: RFC 9111 section 3.3.
    ///
    /// No body is complete under a length that cannot be read, or under several lengths that differ.
    func announces(_ byteCount: Int) -> Bool {
        if let announced = announcedByteCount { return announced == byteCount }
        return fields.contains("Content-Encoding") || fields.declaredLength == .none
    }
}
