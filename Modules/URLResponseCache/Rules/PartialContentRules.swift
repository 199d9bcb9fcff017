import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// The rules for partial content and for combining it. Source: RFC 9111 sections 3.3 and 3.4, RFC 9110 section 14.
enum PartialContentRules {
    /// Returns the range of the stored bytes in the whole content.
    static func bytes(of stored: StoredResponse) -> Range<Int> {
        let start = stored.part?.offset ?? 0
        return start..<(start + stored.body.count)
    }

    /// Returns the requested range of the whole content if all its bytes are stored; otherwise nil.
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

    /// Whether the rest of the content can be requested and appended to the stored bytes.
    static func isBeginning(_ stored: StoredResponse) -> Bool {
        stored.part?.offset == 0 && stored.rangeCondition != nil && stored.hasOffsets && !stored.body.isEmpty
    }

    /// Whether a response is the rest of the content whose beginning is stored.
    static func isRest(_ head: HTTPResponseHead, of stored: StoredResponse) -> Bool {
        guard let count = head.completeCount(resumedAt: stored.body.count), isSameContent(head, stored) else {
            return false
        }
        // A different complete length means a different content, even if the tags match.
        return stored.part?.completeCount ?? count == count
    }

    /// Returns the received bytes of an incomplete response as a part of the content. Section 3.3.
    ///
    /// Returns nil if nothing can be kept: no byte was received, at least the announced number of bytes was received,
    /// or the response is not partial and the rest of its content cannot be requested.
    ///
    /// - Parameters:
    ///   - incomplete: The incomplete response.
    ///   - announced: The number of bytes that the body should have; nil if unknown.
    ///   - hasEnd: Whether the message is complete by its own length and responds to a range without a last position.
    ///     The content then ends with these bytes, even if its `Content-Range` gives another end.
    static func received(_ incomplete: StoredResponse, announced: Int?, hasEnd: Bool) -> StoredResponse? {
        guard !incomplete.body.isEmpty, announced.map({ incomplete.body.count < $0 }) ?? true else { return nil }
        // A partial response can serve requests for ranges inside it.
        if let part = incomplete.part {
            // A part must not become a complete content that is too short, either at offset zero or when combined with
            // other parts.
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

    /// Returns two parts of one content as one part, or as the complete content if they have every byte. Keeps the
    /// fields of the stored part that the newer one lacks. Section 3.4.
    ///
    /// Returns nil if the parts neither adjoin nor overlap, are not certainly of one content, or exceed `limit` bytes
    /// together.
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

    /// Returns the response as a complete one, with its `Content-Length`, if the part has every byte of the content.
    /// Otherwise returns it unchanged.
    static func completed(_ stored: StoredResponse) -> StoredResponse {
        guard let part = stored.part, part.offset == 0, part.completeCount == stored.body.count else { return stored }
        var complete = stored
        complete.part = nil
        complete.head.fields["Content-Length"] = String(stored.body.count)
        return complete
    }

    /// Whether both have the same strong validator: the entity tag, or the date of the last change if neither has a
    /// tag. RFC 9110 sections 8.8.2.2 and 15.3.7.3.
    static func isSameContent(_ head: HTTPResponseHead, _ stored: StoredResponse) -> Bool {
        if hasSameTag(head, stored) { return true }
        guard !head.fields.contains("ETag"), !stored.head.fields.contains("ETag"), let changed = stored.strongDate,
            let newerDate = head.fields.date("Date", now: stored.responseTime)
        else { return false }
        return head.fields.date("Last-Modified", now: stored.responseTime) == changed
            && changed.isStrongValidator(inResponseOf: newerDate)
    }

    /// Whether both have the same strong entity tag.
    static func hasSameTag(_ head: HTTPResponseHead, _ stored: StoredResponse) -> Bool {
        guard let tag = head.fields.entityTag, let own = stored.entityTag else { return false }
        return tag.matchesStrongly(own)
    }
}

extension HTTPResponseHead {
    /// The number of bytes of the complete body: those of the range in a partial response, otherwise those that the
    /// head declares. The value is nil if the head does not specify it. Source: RFC 9110 sections 8.6 and 14.4.
    ///
    /// Except in a partial response, a content coding leaves no length to compare, because the transport may have
    /// decoded it.
    var announcedByteCount: Int? {
        if status == 206, let range = fields["Content-Range"].flatMap({ ContentRange($0) }) { return range.bytes.count }
        guard !fields.contains("Content-Encoding"), case .bytes(let count) = fields.declaredLength else { return nil }
        return count
    }

    /// Whether a body with this number of bytes is complete. Source: RFC 9111 section 3.3.
    ///
    /// With a content coding or without a length, every body counts as complete. Otherwise, with an invalid length or
    /// with several lengths that differ, no body does.
    func announces(_ byteCount: Int) -> Bool {
        if let announced = announcedByteCount { return announced == byteCount }
        return fields.contains("Content-Encoding") || fields.declaredLength == .none
    }
}
