import AlcedoCore
import FoundationEssentials

extension StoredResponse {
    /// Seconds since the server made or confirmed the answer. RFC 9111 section 4.2.3.
    func age(at now: Date) -> TimeInterval {
        let resident = now.timeIntervalSince(responseTime)
        // The clock was set back, so nobody knows how long the answer has been here.
        guard resident >= 0 else { return TimeInterval(DeltaSeconds.limit) }
        return terms.initialAge + resident
    }

    /// Whether the app's own time to live has passed. A clock that was set back leaves that unknown, which counts as
    /// passed.
    func isExpired(at now: Date) -> Bool {
        guard let limit = terms.timeToLive else { return false }
        let resident = now.timeIntervalSince(responseTime)
        return resident < 0 || resident >= limit
    }

    /// The content's validator, when it has one.
    var entityTag: EntityTag? { head.fields.entityTag }

    /// When the content last changed, when the server says so.
    var lastModified: Date? { head.fields.date("Last-Modified", now: responseTime) }

    /// The date of the last change, when it is a strong validator: the response was made at least a minute later, so that
    /// the content cannot have changed twice by then. RFC 9110 section 8.8.2.2.
    var strongDate: Date? {
        lastModified.flatMap { $0.isStrongValidator(inResponseOf: terms.date) ? $0 : nil }
    }

    /// The strong validator of the content as `If-Range` has it: the tag, or the date of the last change of a content
    /// without a tag. RFC 9110 section 13.1.5.
    var rangeCondition: String? {
        guard head.fields.contains("ETag") else { return strongDate == nil ? nil : head.fields["Last-Modified"] }
        return entityTag.flatMap { $0.isWeak ? nil : $0.text }
    }

    /// Whether bytes of the content can be told by their offsets: it is stored as it was sent.
    var hasOffsets: Bool { head.status == 200 && !head.fields.contains("Content-Encoding") }
}

extension Date {
    /// Whether the date of a last change is a strong validator in a response that was made at `date`.
    func isStrongValidator(inResponseOf date: Date) -> Bool { date.timeIntervalSince(self) >= 60 }
}
