import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import Testing

@testable import AlcedoURLResponseCache

/// RFC 9110 section 4.2.3, RFC 3986 section 6.2.2, and the contents of a key.
@Suite struct ResourceURLTests {
    @Test(arguments: [
        ("HTTP://Example.TEST/a.png#b", "http://example.test/a.png"), ("http://h:80", "http://h/"),
        ("https://h:443/x", "https://h/x"), ("https://h:80/x", "https://h:80/x"), ("http://h?Q=A", "http://h/?Q=A"),
        ("http://h:443/", "http://h:443/"), ("http://U:P@H/", "http://h/"), ("http://h/A?B=c", "http://h/A?B=c"),
        ("http://[::1]:80/A", "http://[::1]/A"), ("http://h:/", "http://h/"), ("http://h/#", "http://h/"),
        ("http://h/a:80", "http://h/a:80"), ("http://h/?u=HTTP://X:80/#f", "http://h/?u=HTTP://X:80/"),
        ("http://h/%7Eme", "http://h/~me"), ("http://h/~me", "http://h/~me"), ("http://h/%41%2d%5F", "http://h/A-_"),
        ("http://h/a%2fb", "http://h/a%2Fb"), ("http://h/a%2Fb", "http://h/a%2Fb"),
        ("http://h/%c3%a9", "http://h/%C3%A9"),
        ("http://h/?q=%7e%2f", "http://h/?q=~%2F"), ("http://h/%25%37E", "http://h/%257E"),
        ("http://%48/x", "http://h/x"), ("http://u%40:p@h:80/x", "http://h/x"),
        ("http://h/a/./b", "http://h/a/b"), ("http://h/a/../b", "http://h/b"), ("http://h/a/b/..", "http://h/a/"),
        ("http://h/a/b/.", "http://h/a/b/"), ("http://h/../a", "http://h/a"), ("http://h/..", "http://h/"),
        ("http://h/a//../b", "http://h/a/b"), ("http://h/a//b", "http://h/a//b"),
        ("http://h/.a/..b/...", "http://h/.a/..b/..."), ("http://h/a?b=/../c/./", "http://h/a?b=/../c/./"),
        // Dots are equivalent with and without escapes.
        ("http://h/a/%2E%2e/b", "http://h/b"), ("http://h/a/.%2e/b", "http://h/b"),
        ("http://h/a/%2e/b", "http://h/a/b"), ("http://h/%2e%2e", "http://h/"),
        ("http://h/a/%2e%2e/../b", "http://h/b"), ("http://h/a%2epng", "http://h/a.png"),
        ("http://h/%2e%2e%2e/%2ea", "http://h/.../.a"), ("http://h/a/..%2fb", "http://h/a/..%2Fb"),
        ("http://h/a?b=%2e%2e", "http://h/a?b=.."), ("http://a%2eb/", "http://a.b/"),
        ("http://h./x", "http://h./x"), ("http://h/a%5c..%5Cb", "http://h/a%5C..%5Cb"),
        ("http://h/a;b=1/c.png", "http://h/a;b=1/c.png"), ("http://h/+%20!$&'()*,;=:@", "http://h/+%20!$&'()*,;=:@"),
    ])
    func `equivalent URLs share one key`(spelling: String, expected: String) throws {
        let url = try #require(URL(string: spelling))

        #expect(HTTPRequest(url: url).resourceKey.description == expected)
    }

    @Test(arguments: [
        "https://example.test/a.png", "http://example.test:81/a.png", "http://example.test/A.png",
        "http://example.test/a.png?", "http://example.test/a.png?size=1", "http://example.test/a.png?size=2",
        "http://www.example.test/a.png", "http://example.test/a.png/", "http://example.test/%2Fa.png",
        "http://example.test//a.png", "http://example.test/a%2Epng%3F",
    ])
    func `scheme, host, port, path and query separate responses`(other: String) async throws {
        let bench = Bench()
        try await bench.load(["Cache-Control": "max-age=60"], body: "one")
        let url = Bench.url(other)

        #expect(try await bench.load(["Cache-Control": "max-age=60"], body: "two", url: url).body == "two")

        #expect(try await bench.send().body == "one")
        #expect(try await bench.send(url: url).body == "two")
    }

    /// RFC 9111 section 4.4: a change applies to every equivalent URL.
    @Test(arguments: [
        ("/~me/a", "/%7Eme/a"), ("/%7Eme", "/~me"), ("/a%2fb", "/a%2Fb"), ("/y", "/./y"), ("/y", "/z/../y"),
    ])
    func `a change under an equivalent URL invalidates the response`(requested: String, changed: String) async throws {
        let bench = Bench()
        let url = Bench.url("http://example.test" + requested)
        try await bench.load(["Cache-Control": "max-age=60"], body: "old", url: url)
        bench.server.respond(204, body: "")
        try await bench.send(method: .delete, url: Bench.url("http://example.test" + changed))

        #expect(try await bench.load([:], body: "new", url: url).body == "new")
    }
}
