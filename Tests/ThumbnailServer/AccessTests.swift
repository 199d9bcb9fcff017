import FoundationEssentials
import Testing

@testable import thumbnail_server

struct AccessTests {
    @Test(arguments: [
        "", "a", "//a/", "file:///etc/passwd", "data:image/png;base64,AA", "ftp://a/", "gopher://a/", "http:a",
        "http://",
        "http:///a", "http://user@a/", "http://user:x@a/", "http://a@b@c/", "http://a\\@b/", "http://a b/",
        "http://a/\n",
        "http://a:0/", "http://a:65536/", "http://a:x/", "http://é/", "http://a%00b/", "http://%61/", "http://./",
        "http://a/\u{0}", "http://a/<>", "javascript:alert(1)", "http://a/%zz{", "HTTP//a",
    ])
    func `an invalid or unsupported URL receives 400`(text: String) {
        let error = #expect(throws: HTTPError.self) { try SourceURL(text) }
        #expect(error?.status == 400)
    }

    @Test func `host and port are normalized for comparison`() throws {
        let source = try SourceURL("HTTPS://Images.Example.COM.:8443/a?b=@c")
        #expect((source.scheme, source.host, source.port) == ("https", "images.example.com", 8443))
        #expect(try SourceURL("http://a").port == 80)
        #expect(try SourceURL("https://a/").port == 443)
    }

    @Test(arguments: [
        "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F.1", "017700000001", "0177.0.0.1",
        "127.0.0.1.", "[::ffff:127.0.0.1]", "[::FFFF:7F00:1]", "[0:0:0:0:0:ffff:7f00:0001]",
    ])
    func `all spellings of an address are one host`(host: String) throws {
        #expect(try SourceURL("http://\(host):99/").host == "127.0.0.1")
    }

    @Test(arguments: ["256.0.0.1", "1.2.3.4.5", "0x100000000", "09.0.0.1", "a.1", "[::1", "[::x]"])
    func `an invalid address receives 400`(host: String) {
        #expect(throws: HTTPError.self) { try SourceURL("http://\(host)/") }
    }

    @Test(arguments: [
        ("https://a.test", "https://a.test/x", true), ("https://a.test", "http://a.test/x", false),
        ("https://a.test", "https://a.test:444/x", false), ("https://a.test:444", "https://a.test:444/x", true),
        ("https://a.test:444", "https://a.test/x", false), ("https://A.test/", "https://a.TEST./x", true),
        ("a.test", "http://a.test/x", true), ("a.test", "https://a.test/x", true),
        ("a.test", "https://a.test:8443/x", false), ("a.test:8443", "https://a.test:8443/x", true),
        ("*.a.test", "https://b.a.test/x", true), ("*.a.test", "https://c.b.a.test/x", true),
        ("*.a.test", "https://a.test/x", false), ("*.a.test", "https://ba.test/x", false),
        ("*.a.test", "https://a.test.evil/x", false), ("a.test", "https://xa.test/x", false),
        ("http://127.0.0.1:99", "http://127.0.0.1:99/x", true), ("http://[::1]:99", "http://[::1]:99/x", true),
        ("http://[::1]", "http://[::1]/x", true), ("127.0.0.1", "http://0x7f.1/x", true),
        ("2130706433", "http://127.0.0.1/x", true), ("127.0.0.1", "http://[::ffff:7f00:1]/x", true),
    ])
    func `an allowed origin matches only what it names`(pattern: String, url: String, matches: Bool) throws {
        #expect(try #require(OriginPattern(pattern)).matches(SourceURL(url)) == matches)
    }

    @Test(arguments: [
        "", "*", "*.", "https://", "ftp://a", "a/b", "a.*.b", "https://u@a", "a b", "https://a/b", "a?b", "a#b",
        "https://a?", "a:", "a:/", "[::1]:",
    ])
    func `parsing an invalid origin returns nil`(text: String) { #expect(OriginPattern(text) == nil) }

    @Test func `an empty list allows any origin, and another only its members`() throws {
        try AllowList().check(SourceURL("https://a.test/"))
        let list = AllowList(patterns: [try #require(OriginPattern("a.test"))])
        try list.check(SourceURL("https://a.test/"))
        #expect(throws: AllowList.rejection) { try list.check(SourceURL("https://b.test/")) }
    }
}

struct SignatureTests {
    private let signature = URLSignature(key: Array("0123456789abcdef".utf8))
    private let now = Date(timeIntervalSince1970: 1_000_000)

    private func check(_ target: String, _ signature: URLSignature? = nil) throws(HTTPError) {
        let path = target.prefix { $0 != "?" }
        try (signature ?? self.signature).check(
            path: path, QueryItems(target[path.endIndex...].dropFirst()), now: now)
    }

    @Test func `a signed query is valid in any order and encoding`() throws {
        let signed = try signature.signed("/thumbnail?w=10&url=https://a.test/%7ex")
        try check(signed)
        let parts = signed.dropFirst("/thumbnail?".count).split(separator: "&")
        try check("/thumbnail?" + parts.reversed().joined(separator: "&"))
        try check(signed.replacing("w=10", with: "%77=%31%30"))
    }

    @Test func `a signature has one spelling`() throws {
        let signed = try signature.signed("/thumbnail?w=1")
        let text = String(try #require(signed.split(separator: "=").last))
        try check("/thumbnail?w=1&sig=\(text)")
        let digits = Array(text)
        let bytes = Data((0..<32).map { UInt8(String(digits[2 * $0...2 * $0 + 1]), radix: 16) ?? 0 })
        let base64 = bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        for other in [
            text.uppercased(), base64.replacing("=", with: ""), base64.replacing("=", with: "%3D"), "0\(text)",
            "\(text)%20", "%\(String(text.utf8.first ?? 0, radix: 16))\(text.dropFirst())",
        ] {
            #expect(throws: HTTPError.self) { try check("/thumbnail?w=1&sig=\(other)") }
        }
        #expect(throws: HTTPError.self) { try check("/thumbnail?w=1&si%67=\(text)") }
    }

    @Test func `a changed, wrongly signed or unsigned query receives 403`() throws {
        let signed = try signature.signed("/thumbnail?w=10&url=https://a.test/x")
        let code = try #require(signed.split(separator: "=").last)
        for wrong in [
            "/thumbnail?w=10&url=https://a.test/x", signed.replacing("w=10", with: "w=11"), "\(signed)&h=1",
            signed.replacing("/thumbnail", with: "/other"), signed.replacing("sig=", with: "sig=0"),
            "\(signed.dropLast())", "/thumbnail?w=10&url=https://a.test/x&sig=", "/thumbnail?sig=\(code)",
            "/thumbnail?w=10&url=https://a.test/x&sig=" + String(repeating: "é", count: 32),
        ] {
            #expect(throws: HTTPError(403, "the signature is missing or wrong")) { try check(wrong) }
        }
        #expect(throws: HTTPError.self) { try check(signed, URLSignature(key: Array("0123456789abcdeg".utf8))) }
    }

    @Test func `a signature is valid until it expires`() throws {
        try check(signature.signed("/thumbnail?w=1&expires=1000001"))
        for over in ["1000000", "0", "", "x", "-5", "99999999999999999999"] {
            let target = try signature.signed("/thumbnail?w=1&expires=\(over)")
            #expect(throws: HTTPError(403, "the signature has expired")) { try check(target) }
        }
    }
}
