import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import Testing

/// The parser of URLs in web pages and `Location` fields.
struct WebURLTests {
    /// The base of relative references in these tests.
    private static let base = "http://example.org/foo/bar?q#f"

    @Test(arguments: [
        // Escapes stay, and characters that need escaping are escaped.
        ("http://h/my%20file 2.png", "http://h/my%20file%202.png"), ("http://h/%zz%4", "http://h/%25zz%254"),
        ("http://h/100%", "http://h/100%25"), ("http://h/ä%C3%A4", "http://h/%C3%A4%C3%A4"),
        ("http://h/a\"<>`{}b", "http://h/a%22%3C%3E%60%7B%7Db"), ("http://h/!$&'()*+,;=:@~", "http://h/!$&'()*+,;=:@~"),
        ("http://h/?a b'\"<>ä", "http://h/?a%20b%27%22%3C%3E%C3%A4"), ("http://h/?a/b?c:@", "http://h/?a/b?c:@"),
        ("http://h/\u{0}\u{7F}", "http://h/%00%7F"),
        // Whitespace, backslashes and slashes.
        (" \u{1}http://h/a\t\r\nb \u{0}", "http://h/ab"), ("http:\\\\h\\a\\b?\\c", "http://h/a/b?%5Cc"),
        ("http:///h/a", "http://h/a"), ("https:h/a", "https://h/a"), ("http:////h//a", "http://h//a"),
        // Scheme, user information and port.
        ("HTTP://H:80/A", "http://h/A"), ("https://h:443", "https://h/"), ("http://h:443/", "http://h:443/"),
        ("http://h:/", "http://h/"), ("http://h:00081/", "http://h:81/"), ("http://h:0/", "http://h:0/"),
        ("http://u:p@h/", "http://u:p@h/"), ("http://u@x/q@h/", "http://u@x/q@h/"), ("http://u:@h/", "http://u@h/"),
        ("http://@h/", "http://h/"), ("http://:@h/", "http://h/"), ("http://a:b@c:d@h/", "http://a:b%40c%3Ad@h/"),
        // Hosts.
        ("http://EX%41MPLE.org/", "http://example.org/"),
        ("http://b\u{FC}cher.example/", "http://xn--bcher-kva.example/"),
        ("http://B%C3%9Ccher.example/", "http://xn--bcher-kva.example/"),
        ("http://fa\u{DF}.de/", "http://xn--fa-hia.de/"),
        ("http://h\u{3002}example/", "http://h.example/"), ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://017700000001/", "http://127.0.0.1/"), ("http://2130706433/", "http://127.0.0.1/"),
        ("http://127.0.0.1./", "http://127.0.0.1/"), ("http://1.2.0x3.04/", "http://1.2.3.4/"),
        ("http://[1:0::0:2]:8080/", "http://[1::2]:8080/"), ("http://[::127.0.0.1]/", "http://[::7f00:1]/"),
        ("http://[0:1:0:1:0:1:0:1]/", "http://[0:1:0:1:0:1:0:1]/"),
        ("http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"),
        ("http://h./", "http://h./"), ("http://a_b.example/", "http://a_b.example/"),
        // Dot segments.
        ("http://h/a/../b/./c", "http://h/b/c"), ("http://h/a/%2e%2E/b/.%2e/%2e/c", "http://h/c"),
        ("http://h/../..", "http://h/"), ("http://h/a/..", "http://h/"), ("http://h/a/.", "http://h/a/"),
        ("http://h/a/...", "http://h/a/..."), ("http://h/a/%2e.b", "http://h/a/%2e.b"),
        ("http://h//a//", "http://h//a//"),
        ("http://h", "http://h/"), ("http://h?", "http://h/?"), ("http://h?a#b c", "http://h/?a#b%20c"),
        // References.
        ("12:30.png", "http://example.org/foo/12:30.png"), ("./a:b", "http://example.org/foo/a:b"),
        ("a b%20c", "http://example.org/foo/a%20b%20c"), ("", "http://example.org/foo/bar?q"),
        ("?x y", "http://example.org/foo/bar?x%20y"), ("#x", "http://example.org/foo/bar?q#x"),
        ("/x", "http://example.org/x"), ("\\x", "http://example.org/x"), ("//o/x", "http://o/x"),
        ("/\\o/x", "http://o/x"), ("..", "http://example.org/"), ("../../x", "http://example.org/x"),
        ("http:x", "http://example.org/foo/x"), ("http:/x", "http://example.org/x"), ("https:x", "https://x/"),
        ("http://o", "http://o/"), (".", "http://example.org/foo/"), ("/..//x", "http://example.org//x"),
    ])
    func `a URL is parsed as browsers parse it`(text: String, expected: String) throws {
        let url = try #require(WebURL(text, relativeTo: WebURL(Self.base)))
        #expect(url.text == expected)
        #expect(WebURL(url.text)?.text == expected)
        #expect(URL(string: url.text)?.absoluteString == expected)
        #expect(URL(webString: text, relativeTo: URL(string: Self.base))?.absoluteString == expected)
    }

    @Test(arguments: [
        "ftp://h/", "data:,a", "javascript:alert(1)", "a:b", "http://", "http:///", "http://:80/", "http://u@/",
        "http://h:99999/",
        "http://u@x:p/q@h/", "http://h:8a/", "http://h:-1/", "http://a b/", "http://a%20b/", "http://a%00b/",
        "http://a<b/", "http://a%2fb/", "http://a%40b/", "http://[::1/", "http://[::1]x/", "http://[:1]/",
        "http://[fe80::1%25eth0]/", "http://256.1.1.1/", "http://1.2.3.4.5/",
        "http://4294967296/", "http://0xffffffff1/", "http://a.1.0x/", "http://%FF/", "http://\u{AD}/",
    ])
    func `a URL that browsers refuse is refused`(text: String) throws {
        #expect(WebURL(text) == nil)
        #expect(URL(webString: text) == nil)
    }

    /// Each row: a URL, the text of browsers, and the text of this package. They reach the same resource.
    @Test(arguments: [
        // RFC 3986 does not allow these characters, and `URL` cannot hold them. Servers read both forms equally.
        ("http://h/[a]|^", "http://h/[a]|^", "http://h/%5Ba%5D%7C%5E"),
        ("http://h/?{a}[0]|`^\\", "http://h/?{a}[0]|`^\\", "http://h/?%7Ba%7D%5B0%5D%7C%60%5E%5C"),
        ("http://h/#\\", "http://h/#\\", "http://h/#%5C"),
        // A percent sign that is not part of an escape: some servers answer 400.
        ("http://h/foo%2zbar%", "http://h/foo%2zbar%", "http://h/foo%252zbar%25"),
        ("http://h/?%GH", "http://h/?%GH", "http://h/?%25GH"),
    ])
    func `a URL differs from browsers for a reason`(text: String, browsers: String, expected: String) throws {
        #expect(WebURL(text)?.text == expected)
        #expect(expected != browsers)
    }

    @Test(arguments: [
        // Browsers check Punycode before the name is looked up. Here, the lookup fails.
        "http://a.xn--pokxncvks/", "http://xn--/",
    ])
    func `a name in Punycode is not checked`(text: String) { #expect(WebURL(text)?.text == text) }

    @Test func `a name that IDNA 2008 does not allow is refused in its Unicode form`() {
        // Browsers use the rules of UTS #46 alone, which allow symbols.
        #expect(WebURL("http://\u{2603}/") == nil)
        #expect(WebURL("http://xn--n3h/")?.text == "http://xn--n3h/")
    }

    @Test func `a reference needs a base`() {
        #expect(WebURL("/a") == nil)
        #expect(URL(webString: "a.png") == nil)
    }

    @Test func `parsing takes linear time`() throws {
        let long = String(repeating: "%2e./ä%", count: 200_000)
        #expect(try #require(WebURL("http://h/\(long)?\(long)")).text.utf8.count > 2_000_000)
    }
}
