import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// A content of which the first bytes have arrived, and that can be asked for the others.
struct PartialContent: Sendable, Equatable {
    /// The kinds of response to a request for the other bytes.
    enum Continuation: Equatable {
        /// The other bytes, so that there will be so many in all.
        case remainder(total: Int)
        /// The content from its beginning, or an error: to be read like any response.
        case newResponse
        /// Of no use: all bytes are to be requested again.
        case unusable
    }

    /// Fields of a request that make its response more, or less, than the content.
    private static let conditions = [
        "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
    ]

    /// The head of the first response.
    let head: HTTPResponseHead
    let validator: StrongValidator

    /// Nil when what has arrived is of no use without the rest.
    ///
    /// - Parameter head: As the transport gave it.
    init?(of request: HTTPRequest, head: HTTPResponseHead, now: Date) {
        guard request.method == .get, request.body == nil,
            Self.conditions.allSatisfy({ request.fields.values(of: $0).isEmpty }),
            // Of a coded content the bytes have been decoded; ranges count the others.
            head.status == 200, head.fields.values(of: "Content-Encoding").isEmpty,
            !head.fields.list("Accept-Ranges", contains: "none"),
            let validator = StrongValidator(head.fields, now: now)
        else { return nil }
        self.head = head
        self.validator = validator
    }

    /// Bytes in all, where the server said.
    var total: Int? { head.declaredBodyLength }

    /// Whether both are of one content: what has arrived of one can stand for what has arrived of the other.
    func isSame(as other: Self) -> Bool {
        head.url == other.head.url && validator == other.validator && total == other.total
    }

    /// Asks for the bytes from `offset` on, if the content is still the same.
    func request(like request: HTTPRequest, from offset: Int) -> HTTPRequest {
        var next = request
        next.fields["Range"] = "bytes=\(offset)-"
        next.fields["If-Range"] = validator.text
        return next
    }

    /// - Parameters:
    ///   - offset: The first requested byte; above zero.
    ///   - response: As the transport gave it.
    func continuation(from offset: Int, _ response: HTTPResponseHead) -> Continuation {
        switch response.status {
        case 206: total(from: offset, response).map { .remainder(total: $0) } ?? .unusable
        case 416: .unusable
        default: .newResponse
        }
    }

    private func total(from offset: Int, _ response: HTTPResponseHead) -> Int? {
        let ranges = response.fields.values(of: "Content-Range")
        guard ranges.count == 1, let range = ContentRange(ranges[0]), let total = range.completeCount,
            // Up to the end: of less, nobody would know whether more is to come.
            range.bytes.lowerBound == offset, range.bytes.upperBound == total, self.total == nil || self.total == total,
            response.declaredBodyLength ?? range.bytes.count == range.bytes.count,
            response.fields.values(of: "Content-Encoding").isEmpty,
            // A tag is a resource's own: another place may use the same one for something else.
            response.url == head.url, validator.isSame(in: response.fields)
        else { return nil }
        return total
    }

    /// The head of the whole content, when its last bytes came with `response`. Source: RFC 9110 section 15.3.7.3.
    func head(completedBy response: HTTPResponseHead, total: Int) -> HTTPResponseHead {
        var whole = head
        let partFields = ["content-range", "content-length", "transfer-encoding"]
        let newer = response.fields.filter { !partFields.contains($0.name.lowercased()) }
        for field in newer { whole.fields[field.name] = nil }
        for field in newer { whole.fields.append(field.name, field.value) }
        whole.fields["Transfer-Encoding"] = nil
        whole.fields["Content-Length"] = String(total)
        return whole
    }
}

/// What is the same only as long as every byte of a content is. Source: RFC 9110 section 8.8.
enum StrongValidator: Sendable, Hashable {
    case entityTag(String)
    /// A `Last-Modified`, as it was spelled.
    case date(String)

    /// How long ago a content must have changed when it was sent, so that no further change shares the date, and clocks
    /// that differ a little do no harm. RFC 9110 section 8.8.2.2 leaves the number open; RFC 7232 had this one.
    static let dateDistance: TimeInterval = 60

    /// Nil when the fields of a response have none.
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

    /// Whether a response is of the same content. One that does not say is not.
    func isSame(in fields: HTTPFields) -> Bool {
        switch self {
        case .entityTag(let text): fields.values(of: "ETag") == [text]
        case .date(let text): fields.values(of: "ETag").isEmpty && fields.values(of: "Last-Modified") == [text]
        }
    }
}
