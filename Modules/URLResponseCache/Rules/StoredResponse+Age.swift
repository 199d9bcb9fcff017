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

    /// The content's validator, when it has one.
    var entityTag: EntityTag? { head.fields.entityTag }

    /// When the content last changed, when the server says so.
    var lastModified: Date? { head.fields.date("Last-Modified", now: responseTime) }

    /// Whether bytes of the content can be told by their offsets: it is stored as it was sent.
    var hasOffsets: Bool { head.status == 200 && !head.fields.contains("Content-Encoding") }
}
