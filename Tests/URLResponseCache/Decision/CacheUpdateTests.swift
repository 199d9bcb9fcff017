import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import Testing

@testable import AlcedoURLResponseCache

/// RFC 9111 sections 3, 4.3 and 4.4, as a pure function: every outcome, without any I/O.
@Suite struct CacheUpdateTests {
    struct Row: Sendable {
        var status: Int
        var fields: HTTPFields
        var request: HTTPRequest
        /// Whether a response with the tag "v" is stored.
        var isStored: Bool
        var expected: String

        init(
            _ status: Int, _ fields: HTTPFields, for request: HTTPFields = [:], method: HTTPMethod = .get,
            over isStored: Bool = false, _ expected: String
        ) {
            self.status = status
            self.fields = fields
            self.request = Making.request(request, method: method)
            self.isStored = isStored
            self.expected = expected
        }
    }

    private static let life: HTTPFields = ["Cache-Control": "max-age=60"]

    @Test(
        arguments: Roles.all,
        [
            Row(200, life, "store"), Row(200, life, over: true, "store"), Row(404, life, over: true, "store"),
            Row(200, ["Cache-Control": "no-store"], "drop"), Row(302, [:], over: true, "drop"),
            Row(200, life, for: ["Cache-Control": "no-store"], over: true, "keep"),
            Row(503, [:], over: true, "keep"), Row(503, life, over: true, "store"), Row(503, life, "store"),
            Row(416, [:], over: true, "keep"), Row(206, life, over: true, "keep"),
            Row(
                206, ["Content-Range": "bytes 0-1/9", "Cache-Control": "max-age=60", "ETag": "\"v\""], over: true,
                "keep"),
            Row(206, ["Content-Range": "bytes 0-1/9", "Cache-Control": "max-age=60"], "store part"),
            Row(304, [:], "keep"), Row(304, [:], over: true, "freshen"),
            Row(304, ["ETag": "\"v\""], over: true, "freshen"), Row(304, ["ETag": "\"w\""], over: true, "drop"),
            Row(304, ["Cache-Control": "no-store"], over: true, "freshen, drop"),
            Row(304, [:], for: ["Cache-Control": "no-store"], over: true, "confirm"),
            Row(304, [:], for: ["If-None-Match": "\"v\""], over: true, "freshen"),
            // It does not state to which of the two tags it refers.
            Row(304, [:], for: ["If-None-Match": "\"w\""], over: true, "drop"),
            Row(304, ["ETag": "\"v\""], for: ["If-None-Match": "\"w\""], over: true, "freshen"),
            Row(200, [:], method: .head, "keep"), Row(200, [:], method: .head, over: true, "freshen"),
            Row(200, ["ETag": "\"w\""], method: .head, over: true, "freshen stale"),
            Row(304, ["ETag": "\"w\""], method: .head, over: true, "drop"),
            Row(304, ["ETag": "\"v\""], method: .head, over: true, "freshen"), Row(304, [:], method: .head, "keep"),
            Row(304, [:], for: ["Cache-Control": "no-store"], method: .head, over: true, "confirm"),
            Row(200, [:], for: ["Cache-Control": "no-store"], method: .head, over: true, "keep"),
            Row(503, ["ETag": "\"w\""], method: .head, over: true, "keep"),
            Row(200, ["Cache-Control": "no-store"], method: .head, over: true, "freshen, drop"),
            Row(200, ["Vary": "*"], method: .head, over: true, "freshen, drop"),
            Row(200, [:], method: .post, over: true, "invalidate 1"), Row(500, [:], method: .post, "keep"),
            Row(201, ["Location": "/b", "Content-Location": "/c"], method: .put, "invalidate 3"),
            Row(201, ["Location": "//other.test/b"], method: .put, "invalidate 1"),
            Row(
                200, ["Cache-Control": "max-age=60", "Content-Location": "/a.png"], method: .post,
                "invalidate 2, store"),
            Row(200, life, method: HTTPMethod(rawValue: "OPTIONS"), over: true, "keep"),
        ])
    func `each response leads to one change of the store`(role: CacheRole, row: Row) {
        let stored = row.isStored ? Making.stored(["ETag": "\"v\""], role: role) : nil

        let update = CacheUpdate(
            Making.head(row.fields, status: row.status), stored: stored,
            Making.exchange(row.request, at: 10, role: role))

        #expect(words(update) == row.expected)
    }

    @Test func `a part is stored with status 200 and without Content-Range`() throws {
        let head = Making.head(
            ["Content-Range": "bytes 2-5/9", "Content-Length": "4", "ETag": "\"v\""], status: 206)
        guard case .store(let part) = CacheUpdate(head, stored: nil, Making.exchange()) else {
            Issue.record("it is not stored")
            return
        }

        #expect(part.head.status == 200)
        #expect(part.part == ContentPart(offset: 2, completeCount: 9))
        #expect(part.head.fields["Content-Range"] == nil)
        #expect(part.head.fields["Content-Length"] == nil)
    }

    private func words(_ update: CacheUpdate) -> String {
        switch update {
        case .store(let response): response.part == nil ? "store" : "store part"
        case .freshen(let response, let isKept):
            "freshen" + (response.terms.conditions.contains(.validatesAlways) ? " stale" : "")
                + (isKept ? "" : ", drop")
        case .confirm: "confirm"
        case .drop: "drop"
        case .invalidate(let resources, let new): "invalidate \(resources.count)" + (new == nil ? "" : ", store")
        case .keep: "keep"
        }
    }
}
