import AlcedoCore
import FoundationEssentials

/// What is the same only as long as every byte of a content is. Source: RFC 9110 section 8.8.
enum StrongValidator: Sendable, Hashable {
    case entityTag(String)
    /// A `Last-Modified`, as it was spelled.
    case date(String)

    /// How long ago a content must have changed when it was sent, so that no further change shares the date, and clocks
    /// that differ a little do no harm. RFC 9110 section 8.8.2.2 leaves the number open; RFC 7232 had this one.
    static let dateDistance: TimeInterval = 60

    /// Nil when the fields of an answer have none.
    init?(_ fields: HTTPFields, now: Date) {
        let tags = fields.values(of: "ETag")
        guard tags.isEmpty else {
            // A date must not stand in for a tag that is weak: section 13.1.5.
            guard tags.count == 1, tags[0].hasPrefix("\""), let tag = EntityTag(tags[0]), !tag.isWeak else {
                return nil
            }
            self = .entityTag(tags[0])
            return
        }
        let (dates, changes) = (fields.values(of: "Date"), fields.values(of: "Last-Modified"))
        guard dates.count == 1, changes.count == 1, let date = HTTPDate.parse(dates[0], now: now),
            let change = HTTPDate.parse(changes[0], now: now), date.timeIntervalSince(change) >= Self.dateDistance
        else { return nil }
        self = .date(changes[0])
    }

    /// The value of an `If-Range`.
    var text: String {
        switch self {
        case .entityTag(let text), .date(let text): text
        }
    }

    /// Whether an answer is of the same content. One that does not say is not.
    func isSame(in fields: HTTPFields) -> Bool {
        switch self {
        case .entityTag(let text): fields.values(of: "ETag") == [text]
        case .date(let text): fields.values(of: "ETag").isEmpty && fields.values(of: "Last-Modified") == [text]
        }
    }
}
