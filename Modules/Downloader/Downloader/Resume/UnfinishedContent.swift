import AlcedoCore
import FoundationEssentials

/// A content of which the first bytes have arrived, and that can be asked for the others.
struct UnfinishedContent: Sendable, Equatable {
    /// What the answer to a request for the other bytes is.
    enum Continuation: Equatable {
        /// The other bytes, so that there will be so many in all.
        case rest(total: Int)
        /// The content from its beginning, or an error: to be taken as any answer.
        case another
        /// Nothing that is of use: to be asked again for all bytes.
        case useless
    }

    /// Fields of a request that make its answer more, or less, than the content.
    private static let conditions = [
        "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
    ]

    /// The head of the first answer.
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
    ///   - offset: What was asked for; above zero.
    ///   - answer: As the transport gave it.
    func continuation(from offset: Int, _ answer: HTTPResponseHead) -> Continuation {
        switch answer.status {
        case 206: rest(from: offset, answer).map { .rest(total: $0) } ?? .useless
        case 416: .useless
        default: .another
        }
    }

    private func rest(from offset: Int, _ answer: HTTPResponseHead) -> Int? {
        let ranges = answer.fields.values(of: "Content-Range")
        guard ranges.count == 1, let range = ContentRange(ranges[0]), let total = range.completeCount,
            // Up to the end: of less, nobody would know whether more is to come.
            range.bytes.lowerBound == offset, range.bytes.upperBound == total, self.total == nil || self.total == total,
            answer.declaredBodyLength ?? range.bytes.count == range.bytes.count,
            answer.fields.values(of: "Content-Encoding").isEmpty,
            // A tag is a resource's own: another place may use the same one for something else.
            answer.url == head.url, validator.isSame(in: answer.fields)
        else { return nil }
        return total
    }

    /// The head of the whole content, when its last bytes came with `answer`. Source: RFC 9110 section 15.3.7.3.
    func head(completedBy answer: HTTPResponseHead, total: Int) -> HTTPResponseHead {
        var whole = head
        let ofThePart = ["content-range", "content-length", "transfer-encoding"]
        let newer = answer.fields.fields.filter { !ofThePart.contains($0.name.lowercased()) }
        for field in newer { whole.fields[field.name] = nil }
        for field in newer { whole.fields.append(field.name, field.value) }
        whole.fields["Transfer-Encoding"] = nil
        whole.fields["Content-Length"] = String(total)
        return whole
    }
}
