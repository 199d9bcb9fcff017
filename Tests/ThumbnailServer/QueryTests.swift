import Alcedo
import TestSupport
import Testing

@testable import thumbnail_server

struct QueryTests {
    private func query(_ text: String, accept: String? = nil) throws(Refusal) -> ThumbnailQuery {
        try ThumbnailQuery(QueryItems("url=https://a.test/p.png&\(text)"), accept: accept, maximumSide: 1000)
    }

    @Test func `names and values are decoded, and a plus stays one`() throws {
        let items = try QueryItems("a=%41%20%C3%A9+&b&c=1=2&=x")
        #expect(items["a"] == "A é+")
        #expect(items["b"] == "")
        #expect(items["c"] == "1=2")
        #expect(items[""] == "x")
        #expect(items["d"] == nil)
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%FF", "%=1", "a=%C3", "a=1&a=2", "a=1&%61=2"])
    func `what is no percent-encoded UTF-8, or there twice, is refused`(text: String) {
        #expect(throws: Refusal.self) { try QueryItems(text) }
    }

    @Test func `too many parameters and too long queries are refused`() {
        let many = (0..<17).map { "p\($0)=1" }.joined(separator: "&")
        #expect(throws: Refusal(400, "there are too many parameters")) { try QueryItems(many) }
        #expect(throws: Refusal(414, "the query is too long")) {
            try QueryItems("a=" + String(repeating: "x", count: QueryItems.byteLimit))
        }
    }

    @Test func `rubbish never traps`() {
        var random = SeededGenerator(seed: 11)
        let bytes = Array("%&=+;?#/:@[]abcdefurlwh0123456789\u{7F}éß".utf8)
        for _ in 0..<20_000 {
            let text = String(
                decoding: (0..<Int.random(in: 0...60, using: &random)).map { _ in
                    bytes.randomElement(using: &random) ?? 0
                },
                as: UTF8.self)
            guard let items = try? QueryItems(text) else { continue }
            _ = try? ThumbnailQuery(items, accept: text, maximumSide: 100)
            _ = try? SourceURL(text)
            _ = OriginPattern(text)
        }
    }

    @Test func `a query in canonical form has its parameters in order and spelled one way`() throws {
        let items = try QueryItems("w=1&url=https://a/%7eb&sig=x&h=%32")
        #expect(items.canonical(without: "sig") == "h=2&url=https%3A%2F%2Fa%2F~b&w=1")
    }

    @Test(arguments: [
        "", "w=0", "w=-1", "w=+1", "w=1001", "w=", "w=x", "w=99999999999999999999", "w=10&fit=cover", "w=10&fit=fill",
        "h=10&fit=exact", "w=10&format=gif", "w=10&quality=0", "w=10&quality=101", "w=10&x=1", "w=10&W=1",
    ])
    func `parameters that make no sense are 400`(text: String) {
        let error = #expect(throws: Refusal.self) { try query(text) }
        #expect(error?.status == 400)
    }

    @Test func `an origin may be silent for as long as is said`() throws {
        let request = try query("w=10").imageRequest(DecodingLimits(), silence: .seconds(60))
        guard case .http(let request) = request.source else {
            Issue.record("it is no request")
            return
        }
        #expect(request.idleTimeout == .seconds(60))
    }

    @Test(arguments: [
        ("/a?b=http://c/d", "/a?b=http://c/d"), ("http://a.test/b?c", "/b?c"), ("HTTPS://a.test:1/b", "/b"),
        ("http://a.test", "/"), ("http://a.test?b", "/?b"), ("ftp://a.test/b", "ftp://a.test/b"), ("*", "*"),
        ("http:/a", "http:/a"), ("", ""),
    ])
    func `a target in absolute form is as good as its path`(target: String, expected: String) {
        #expect(RequestHead.originForm(target) == expected)
    }

    @Test func `a side that is missing is the longest there may be`() throws {
        #expect(try query("w=10").size == PixelSize(width: 10, height: 1000))
        #expect(try query("h=10").size == PixelSize(width: 1000, height: 10))
    }

    @Test(arguments: [
        ("image/webp", true), ("text/html,image/webp,*/*;q=0.8", true), ("IMAGE/WEBP;q=0.1", true),
        ("image/webp ; q=1.000", true), ("image/webp;q=0", false), ("image/webp;q=0.0", false), ("image/*", false),
        ("*/*", false), ("", false), ("image/webpx", false), ("image/webp;q=x", false), (",,;;q=,", false),
    ])
    func `webp is accepted by name alone, with a weight above nought`(field: String, isAccepted: Bool) throws {
        #expect(AcceptField(field).names("image/webp") == isAccepted)
        let query = try query("w=10", accept: field)
        #expect(query.format == (isAccepted ? .webp : .plain) && query.isNegotiated)
    }

    @Test func `a format that is named is not negotiated`() throws {
        let query = try query("w=10&format=jpeg", accept: "image/webp")
        #expect(query.format == .jpeg && !query.isNegotiated)
    }

    @Test func `queries that get the same bytes have one key, and others another`() throws {
        let key = try query("w=10&h=20").key
        #expect(try query("h=20&w=10&fit=fit&quality=80").key == key)
        #expect(try query("w=10&h=20&format=webp").key == query("h=20&w=10", accept: "image/webp").key)
        #expect(try query("w=10&h=20&format=png&quality=5").key == query("w=10&h=20&format=png").key)
        for other in ["w=10&h=21", "w=11&h=20", "w=10&h=20&fit=fill", "w=10&h=20&quality=81", "w=10&h=20&format=jpeg"] {
            #expect(try query(other).key != key)
        }
    }
}
