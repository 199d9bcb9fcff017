import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

extension StoredResponse {
    /// The fields that describe the stored body. They are removed from responses with the status 304 or 416. RFC 9110
    /// section 15.4.5.
    private static let bodyFields: Set = [
        "content-length", "content-encoding", "content-type", "content-range", "content-language",
    ]

    /// Returns the response to a request: the whole stored content, a range, 304 if the caller's copy is current, or
    /// 416 if the range cannot be satisfied. The body of a response to HEAD is empty.
    ///
    /// Source: RFC 9111 sections 4 and 4.3.2, RFC 9110 section 14.
    func response(
        to request: HTTPRequest, _ directives: RequestDirectives, age: TimeInterval?, _ status: CacheStatus,
        _ caching: ResponseCaching
    ) -> HTTPResponse {
        var head = HTTPResponseHead(url: request.url, status: head.status, fields: head.fields)
        var body = body
        if directives.isConditional, Precondition.isMet(by: self, request) {
            head.status = 304
            head.fields = head.fields.removing(Self.bodyFields)
            body = Data()
        } else if let range = directives.range, head.status == 200, hasOffsets,
            part != nil || Precondition.allowsRange(of: self, request)
        {
            (head, body) = partial(head, range)
        }
        if request.method == .head { body = Data() }
        // Section 5.1.
        if let age { head.fields.append("Age", String(Int(min(max(0, age), TimeInterval(DeltaSeconds.limit))))) }
        status.add(to: &head.fields)
        var response = HTTPResponse(head: head, body: HTTPBody(body))
        response.caching = caching
        return response
    }

    private func partial(_ head: HTTPResponseHead, _ range: ByteRange) -> (HTTPResponseHead, Data) {
        var head = head
        let complete = part.map(\.completeCount) ?? body.count
        guard let bytes = PartialContentRules.stored(range, of: self) else {
            head.status = 416
            head.fields = head.fields.removing(Self.bodyFields)
            head.fields["Content-Range"] = "bytes */\(complete.map { String($0) } ?? "*")"
            head.fields["Content-Length"] = "0"
            return (head, Data())
        }
        head.status = 206
        head.fields["Content-Range"] = ContentRange(bytes: bytes, completeCount: complete).text
        head.fields["Content-Length"] = String(bytes.count)
        let start = body.startIndex + bytes.lowerBound - (part?.offset ?? 0)
        return (head, body[start..<(start + bytes.count)])
    }
}

extension HTTPResponse {
    /// Returns the response of a cache that has no usable response and cannot or must not contact the server: 504
    /// without a body.
    static func gatewayTimeout(for request: HTTPRequest, _ status: CacheStatus) -> HTTPResponse {
        var head = HTTPResponseHead(url: request.url, status: 504, fields: ["Content-Length": "0"])
        status.add(to: &head.fields)
        return HTTPResponse(head: head, body: HTTPBody(Data()))
    }
}

/// The member that the cache adds to the `Cache-Status` field. Source: RFC 9211.
struct CacheStatus {
    enum Outcome {
        /// Served from the store, with the remaining freshness lifetime in seconds; negative for a stale response.
        case hit(timeToLive: Int)
        /// Forwarded, with the status of the received response; nil if none was received.
        case forwarded(ForwardReason, status: Int?)
        case unsatisfiable
    }

    var outcome: Outcome
    var isStored = false

    private var text: String {
        switch outcome {
        case .hit(let seconds): "alcedo; hit; ttl=\(seconds)"
        case .forwarded(let reason, let status):
            "alcedo; fwd=\(reason.rawValue)" + (status.map { "; fwd-status=\($0)" } ?? "")
                + (isStored ? "; stored" : "")
        case .unsatisfiable: "alcedo; detail=only-if-cached"
        }
    }

    /// Adds the member after those of the caches on the path.
    func add(to fields: inout HTTPFields) { fields.append("Cache-Status", text) }
}
