import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import Testing

@testable import AlcedoURLResponseCache

/// RFC 9111 section 4, as a pure function: every outcome, without any I/O.
@Suite struct CacheDecisionTests {
    struct Row: Sendable {
        /// The `Cache-Control` of the stored response, or nil if none is stored.
        var stored: String?
        var extra: HTTPFields = [:]
        var request: HTTPRequest
        var at: TimeInterval
        var expected: String

        init(
            _ stored: String?, _ extra: HTTPFields = [:], for request: HTTPFields = [:], method: HTTPMethod = .get,
            policy: HTTPCachePolicy = .useProtocolCachePolicy, at seconds: TimeInterval, _ expected: String
        ) {
            self.stored = stored
            self.extra = extra
            self.request = Making.request(request, method: method, policy: policy)
            at = seconds
            self.expected = expected
        }
    }

    private static func control(_ text: String) -> HTTPFields { ["Cache-Control": text] }

    @Test(
        arguments: Roles.all,
        [
            Row("max-age=60", at: 59, "serve fresh"), Row("max-age=60", at: 60, "revalidate stale"),
            Row(nil, at: 0, "fetch uri-miss"),
            Row("no-cache, max-age=60", at: 0, "revalidate stale"),
            Row("max-age=60", for: control("no-cache"), at: 0, "revalidate request"),
            Row("max-age=60", for: control("max-age=5"), at: 6, "revalidate request"),
            Row("max-age=60", for: control("min-fresh=5"), at: 56, "revalidate request"),
            Row("max-age=60", for: control("max-stale"), at: 60, "serve stale"),
            Row("max-age=60, stale-while-revalidate=9", at: 69, "serve and revalidate"),
            Row("max-age=60, stale-while-revalidate=9", at: 70, "revalidate stale"),
            Row(
                "max-age=60, stale-while-revalidate=9", for: control("only-if-cached"), at: 69, "serve stale"),
            Row("max-age=60", for: control("only-if-cached"), at: 60, "unsatisfiable"),
            Row("max-age=60", for: control("only-if-cached"), at: 59, "serve fresh"),
            Row(nil, for: control("only-if-cached"), at: 0, "unsatisfiable"),
            Row("max-age=60", for: control("no-store"), at: 0, "forward bypass"),
            Row("max-age=60", for: ["If-Match": "\"v\""], at: 0, "forward bypass"),
            Row("max-age=60", for: ["if-unmodified-since": "x"], at: 0, "forward bypass"),
            Row("max-age=60", for: ["Range": "bytes=0-0,2-2"], at: 0, "forward bypass"),
            Row("max-age=60", for: ["Range": "bytes=0-0"], at: 0, "serve fresh"),
            Row("max-age=60", ["Content-Encoding": "br"], for: ["Range": "bytes=0-0"], at: 0, "fetch partial"),
            Row("max-age=60", method: .head, at: 0, "serve fresh"),
            Row("max-age=60", method: .post, at: 0, "forward method"),
            Row("max-age=60", for: control("only-if-cached"), method: .post, at: 0, "unsatisfiable"),
            Row("max-age=60", policy: .reloadIgnoringLocalCacheData, at: 0, "fetch request"),
            Row("max-age=60", policy: .reloadRevalidatingCacheData, at: 0, "revalidate request"),
            Row("max-age=60", policy: .returnCacheDataElseLoad, at: 900, "serve stale"),
            Row(nil, policy: .returnCacheDataDontLoad, at: 0, "unsatisfiable"),
            Row("max-age=60", for: ["If-None-Match": "\"v\""], at: 0, "serve fresh"),
        ])
    func `each request leads to one decision`(role: CacheRole, row: Row) {
        var candidate = StoredCandidate(key: ImageKey(row.request.resourceKey))
        if let control = row.stored {
            let fields = HTTPFields(row.extra.fields + [.init("Cache-Control", control)])
            candidate.response = Making.stored(fields, role: role)
        }

        let decision = CacheDecision(
            for: row.request, RequestDirectives(row.request), stored: candidate, now: start + row.at)

        #expect(words(decision) == row.expected)
    }

    @Test func `stored variants for other requests are reported as a vary miss`() {
        let request = Making.request()
        let candidate = StoredCandidate(key: ImageKey(request.resourceKey), hasVariants: true)

        #expect(
            words(CacheDecision(for: request, RequestDirectives(request), stored: candidate, now: start))
                == "fetch vary-miss")
    }

    @Test(
        arguments: [("\"v\"", "complete"), ("W/\"v\"", "fetch partial"), (nil, "fetch partial")] as [(String?, String)])
    func `an incomplete response with a strong tag is completed`(tag: String?, expected: String) {
        let request = Making.request()
        var fields: HTTPFields = ["Cache-Control": "max-age=60"]
        fields["ETag"] = tag
        var stored = Making.stored(fields)
        stored.part = ContentPart(offset: 0, completeCount: 10)
        let candidate = StoredCandidate(response: stored, key: ImageKey(request.resourceKey))

        #expect(
            words(CacheDecision(for: request, RequestDirectives(request), stored: candidate, now: start)) == expected)
    }

    private func words(_ decision: CacheDecision) -> String {
        switch decision {
        case .serve(_, let source): "serve \(source.rawValue)"
        case .serveAndRevalidate: "serve and revalidate"
        case .revalidate(_, let reason): "revalidate \(reason.rawValue)"
        case .complete: "complete"
        case .fetch(let reason): "fetch \(reason.rawValue)"
        case .forward(let reason): "forward \(reason.rawValue)"
        case .unsatisfiable: "unsatisfiable"
        }
    }
}
