package import FoundationEssentials

extension HTTPRequest {
    /// Returns a request for the bytes from an offset on, on the condition that the content has not changed. If it has,
    /// the server sends all of it. Source: RFC 9110 section 13.1.5.
    ///
    /// - Parameter validator: The strong validator of the content: an entity tag, or the date of its last change.
    package func resumed(at offset: Int, ifUnchangedSince validator: String?) -> HTTPRequest {
        var rest = self
        rest.fields["Range"] = "bytes=\(offset)-"
        rest.fields["If-Range"] = validator
        return rest
    }
}

extension HTTPResponseHead {
    /// Returns the number of bytes of the whole content if the body consists of the bytes from an offset to its end.
    /// Otherwise, and with a content coding, which the transport may have decoded, returns nil. Source: RFC 9110
    /// section 15.3.7.
    package func completeCount(resumedAt offset: Int) -> Int? {
        let ranges = fields.values(of: "Content-Range")
        guard status == 206, ranges.count == 1, let range = ContentRange(ranges[0]), range.bytes.lowerBound == offset,
            range.bytes.upperBound == range.completeCount, fields.values(of: "Content-Encoding").isEmpty
        else { return nil }
        return range.completeCount
    }
}

extension Date {
    /// Whether the date of a last change is a strong validator in a response that was generated at `date`.
    ///
    /// The response must have been generated at least a minute after the change, so that no later change has the same
    /// date, and small clock differences are tolerated. RFC 9110 section 8.8.2.2 does not specify a number; RFC 7232
    /// specified 60 seconds.
    package func isStrongValidator(inResponseOf date: Date) -> Bool { date.timeIntervalSince(self) >= 60 }
}
