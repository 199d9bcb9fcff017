import AlcedoCore
import FoundationEssentials
import Testing

@testable import AlcedoURLResponseCache

/// RFC 9110 section 4.2.3, and what a key holds.
@Suite struct ResourceURLTests {
    @Test(arguments: [
        ("HTTP://Example.TEST/a.png#b", "http://example.test/a.png"), ("http://h:80", "http://h/"),
        ("https://h:443/x", "https://h/x"), ("https://h:80/x", "https://h:80/x"), ("http://h?Q=A", "http://h/?Q=A"),
        ("http://h:443/", "http://h:443/"), ("http://U:P@H/", "http://U:P@h/"), ("http://h/A?B=c", "http://h/A?B=c"),
        ("http://[::1]:80/A", "http://[::1]/A"), ("http://h:/", "http://h/"), ("http://h/#", "http://h/"),
        ("http://h/a:80", "http://h/a:80"), ("http://h/?u=HTTP://X:80/#f", "http://h/?u=HTTP://X:80/"),
    ])
    func `equal URLs are stored under one`(spelling: String, expected: String) throws {
        let url = try #require(URL(string: spelling))

        #expect(HTTPRequest(url: url).resourceKey.description == expected)
    }

    @Test(arguments: [
        "https://example.test/a.png", "http://example.test:81/a.png", "http://example.test/A.png",
        "http://example.test/a.png?", "http://example.test/a.png?size=1", "http://example.test/a.png?size=2",
        "http://www.example.test/a.png", "http://user@example.test/a.png", "http://example.test/a.png/",
    ])
    func `scheme, host, port, path and query keep answers apart`(other: String) async throws {
        let bench = Bench()
        try await bench.load(["Cache-Control": "max-age=60"], body: "one")
        let url = Bench.url(other)

        #expect(try await bench.load(["Cache-Control": "max-age=60"], body: "two", url: url).body == "two")

        #expect(try await bench.send().body == "one")
        #expect(try await bench.send(url: url).body == "two")
    }
}
