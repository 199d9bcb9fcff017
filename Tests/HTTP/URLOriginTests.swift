import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import Testing

struct URLOriginTests {
    @Test(arguments: [
        ("http://example.org", "http://example.org:80"),
        ("http://example.org/", "http://example.org:80"),
        ("https://example.org/a:1/b", "https://example.org:443"),
        ("https://a-1.example.org:8443/x?y#z", "https://a-1.example.org:8443"),
        ("http://127.0.0.1:80/", "http://127.0.0.1:80"),
        ("http://example.org:080/", "http://example.org:80"),
        ("http://example.org:/a", "http://example.org:80"),
        ("HTTP://Example.ORG/A", "http://example.org:80"),
        ("http://example.org?x=1:2", "http://example.org:80"),
        ("https://example.org#f", "https://example.org:443"),
        ("https://user:secret@example.org/", "https://example.org:443"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("http://a_b.example/", "http://a_b.example:80"),
    ])
    func `an origin is scheme, host and port in any spelling`(text: String, origin: String) throws {
        let url = try #require(URL(string: text))
        #expect(url.origin == origin)
    }

    @Test func `a relative URL has the origin of its base`() throws {
        let base = try #require(URL(string: "https://example.org:444/a/"))
        #expect(URL(string: "b", relativeTo: base)?.origin == "https://example.org:444")
    }
}
