import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// Content whose first bytes have arrived and whose remaining bytes can be requested.
struct PartialContent: Sendable, Equatable {
    /// The kinds of response to a request for the remaining bytes.
    enum Continuation: Equatable {
        /// The remaining bytes. `total` is the number of bytes of the whole content.
        case remainder(total: Int)
        /// The content from its beginning, or an error, to be read like any other response.
        case newResponse
        /// An unusable response: all bytes must be requested again.
        case unusable
    }

    /// The request fields that select a part of the content or make the request conditional.
    private static let conditions = [
        "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
    ]

    /// The head of the first response.
    let head: HTTPResponseHead
    let validator: StrongValidator

    /// Creates the partial content of a response; nil if the download cannot be resumed.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - head: The head of the response as the transport returned it.
    ///   - now: The current date.
    init?(of request: HTTPRequest, head: HTTPResponseHead, now: Date) {
        guard request.method == .get, request.body == nil,
            Self.conditions.allSatisfy({ request.fields.values(of: $0).isEmpty }),
            // The transport has decoded the content, but ranges count encoded bytes.
            head.status == 200, head.fields.values(of: "Content-Encoding").isEmpty,
            !head.fields.list("Accept-Ranges", contains: "none"),
            let validator = StrongValidator(head.fields, now: now)
        else { return nil }
        self.head = head
        self.validator = validator
    }

    /// The total number of bytes; nil if the server did not declare it.
    var total: Int? { head.declaredBodyLength }

    /// Returns whether both values describe the same content, so that bytes of both can be combined.
    func isSame(as other: Self) -> Bool {
        head.url.withoutCredentials == other.head.url.withoutCredentials && validator == other.validator
            && total == other.total
    }

    /// Returns a request for the bytes from `offset` on, on the condition that the content has not changed.
    func request(like request: HTTPRequest, from offset: Int) -> HTTPRequest {
        request.resumed(at: offset, ifUnchangedSince: validator.text)
    }

    /// Returns how a response continues the content.
    ///
    /// - Parameters:
    ///   - offset: The offset of the first requested byte; greater than zero.
    ///   - response: The head of the response as the transport returned it.
    func continuation(from offset: Int, _ response: HTTPResponseHead) -> Continuation {
        switch response.status {
        case 206: total(from: offset, response).map { .remainder(total: $0) } ?? .unusable
        case 416: .unusable
        default: .newResponse
        }
    }

    private func total(from offset: Int, _ response: HTTPResponseHead) -> Int? {
        guard let total = response.completeCount(resumedAt: offset), self.total == nil || self.total == total,
            response.declaredBodyLength ?? (total - offset) == total - offset,
            // An entity tag is valid for one resource; another URL may use the same tag for other content.
            response.url.withoutCredentials == head.url.withoutCredentials, validator.isSame(in: response.fields)
        else { return nil }
        return total
    }

    /// Returns the head of the whole content, given the response with its last bytes. Source: RFC 9110 section
    /// 15.3.7.3.
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

/// A validator that changes whenever a byte of the content changes. Source: RFC 9110 section 8.8.
enum StrongValidator: Sendable, Hashable {
    case entityTag(String)
    /// The original text of `Last-Modified`.
    case date(String)

    /// Creates the validator of a response; nil if the response has no strong validator.
    init?(_ fields: HTTPFields, now: Date) {
        let tags = fields.values(of: "ETag")
        guard tags.isEmpty else {
            // A date must not replace a weak entity tag: RFC 9110 section 13.1.5.
            guard tags.count == 1, tags[0].hasPrefix("\""), let tag = EntityTag(tags[0]), !tag.isWeak else {
                return nil
            }
            self = .entityTag(tags[0])
            return
        }
        let (dates, changes) = (fields.values(of: "Date"), fields.values(of: "Last-Modified"))
        guard dates.count == 1, changes.count == 1, let date = HTTPDate.parse(dates[0], now: now),
            let change = HTTPDate.parse(changes[0], now: now), change.isStrongValidator(inResponseOf: date)
        else { return nil }
        self = .date(changes[0])
    }

    /// The value for `If-Range`.
    var text: String {
        switch self {
        case .entityTag(let text), .date(let text): text
        }
    }

    /// Returns whether a response has the same validator, and thus belongs to the same content.
    func isSame(in fields: HTTPFields) -> Bool {
        switch self {
        case .entityTag(let text): fields.values(of: "ETag") == [text]
        case .date(let text): fields.values(of: "ETag").isEmpty && fields.values(of: "Last-Modified") == [text]
        }
    }
}
