import AlcedoCore
import FoundationEssentials

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
