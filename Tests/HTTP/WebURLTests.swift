import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import Testing

/// The parser of URLs in web pages and `Location` fields. `WireURLTests` has the table of URLs, which it also sends.
struct WebURLTests {
    @Test(arguments: ["ftp://h/", "data:,a", "javascript:alert(1)", "a:b"])
    func `a URL with another scheme is refused`(text: String) {
        #expect(WebURL(text) == nil)
        #expect(WebURL(text, relativeTo: WebURL("http://example.org/")) == nil)
        #expect(URL(webString: text, relativeTo: URL(string: "http://example.org/")) == nil)
    }

    @Test(arguments: ["//h/", "/a", "a.png", "?a", "#a", ""]) func `a reference needs a base`(text: String) {
        #expect(WebURL(text) == nil)
        #expect(URL(webString: text) == nil)
    }

    @Test func `parsing takes linear time`() throws {
        let long = String(repeating: "%2e./ä%", count: 200_000)
        #expect(try #require(WebURL("http://h/\(long)?\(long)")).text.utf8.count > 2_000_000)
    }
}
