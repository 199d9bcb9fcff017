import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

@Suite struct ImageSourceTests {
    private func source(_ text: String) throws -> ImageSource { ImageSource(try #require(URL(string: text))) }

    @Test(arguments: ["http://h/a?b#c", "HTTPS://h/a"])
    func `a web URL is a GET request`(text: String) throws {
        guard case .http(let request) = try source(text) else {
            Issue.record("no web source")
            return
        }
        #expect(request == HTTPRequest(url: try #require(URL(string: text))))
        #expect(request.method == .get)
    }

    @Test(arguments: [
        ("file:///tmp/a%20b.png", "/tmp/a b.png"), ("FILE:///a", "/a"), ("file://localhost/a", "/a"),
        ("file:///100%25", "/100%"), ("file:///a%2Fb?c", "/a/b"),
    ])
    func `a file URL is its decoded path`(text: String, path: String) throws {
        guard case .file(path) = try source(text) else {
            Issue.record("found \(String(describing: try source(text)))")
            return
        }
    }

    @Test func `a data URL stays a data URL`() throws {
        guard case .dataURL("data:,a%20b") = try source("data:,a%20b") else {
            Issue.record("no data source")
            return
        }
    }

    @Test(arguments: ["ftp://h/a", "javascript:a", "a/b", "//h/a", "filex:///a", ""])
    func `a URL with another scheme or none needs a custom downloader`(text: String) throws {
        guard let url = URL(string: text) else { return }
        guard case .url(url) = ImageSource(url) else {
            Issue.record("found \(ImageSource(url))")
            return
        }
    }

    @Test func `a file URL of another host needs a custom downloader`() throws {
        let url = try #require(URL(string: "file://elsewhere/etc/hostname"))
        guard case .url(url) = ImageSource(url) else {
            Issue.record("found \(ImageSource(url))")
            return
        }
    }

    @Test func `requests with possibly different responses are different resources`() throws {
        let url = try #require(URL(string: "http://h/a"))
        let requests = [
            HTTPRequest(url: url),
            HTTPRequest(url: url, fields: ["Authorization": "Basic one"]),
            HTTPRequest(url: url, fields: ["Authorization": "Basic two"]),
            HTTPRequest(url: url, fields: ["Cookie": "Basic one"]),
            HTTPRequest(url: url, fields: ["Accept": "image/webp"]),
            HTTPRequest(url: url, fields: ["Accept-Language": "de"]),
            HTTPRequest(url: url, fields: ["Accept-Encoding": "br"]),
            HTTPRequest(url: url, fields: ["Range": "bytes=0-9"]),
            HTTPRequest(url: url, fields: ["If-Match": "\"a\""]),
            HTTPRequest(url: url, fields: ["If-None-Match": "\"a\""]),
            HTTPRequest(url: url, fields: ["If-Modified-Since": "a"]),
            HTTPRequest(url: url, fields: ["If-Unmodified-Since": "a"]),
            HTTPRequest(url: url, fields: ["If-Range": "a"]),
            HTTPRequest(method: .post, url: url),
            HTTPRequest(method: .post, url: url, body: Data("1".utf8)),
            HTTPRequest(method: .post, url: url, body: Data("2".utf8)),
            HTTPRequest(url: url, body: Data("1".utf8)),
        ]

        let resources = requests.map { ImageSource.http($0).resource }

        #expect(Set(resources).count == requests.count)
        #expect(resources[0] == ResourceKey(url))
        #expect(resources.allSatisfy { !$0.description.contains("Basic") })
        #expect(ImageSource.http(HTTPRequest(url: url, fields: ["User-Agent": "x"])).resource == resources[0])
    }

    @Test func `the key of a request has the digest of earlier releases`() throws {
        let url = try #require(URL(string: "http://h/a"))
        let fields: HTTPFields = ["Authorization": "one", "Cookie": "two"]
        // SHA-256 of the method and of each field with its length, computed independently.
        #expect(
            ImageSource.http(HTTPRequest(url: url, fields: fields)).resource.description
                == "http://h/a 6a13edd2f59f1db5edc26e69ccefa3477ae71b4c31124d7b21fb61b8a1086182")
    }

    @Test func `user names and passwords distinguish resources and are not in their keys`() throws {
        let sources = try ["http://h/a", "http://me:secret@h/a", "http://me:secret2@h/a", "http://you@h/a"].map(source)
        #expect(Set(sources.map(\.resource)).count == sources.count)
        #expect(sources[0].resource.description == "http://h/a")
        #expect(sources.allSatisfy { $0.resource.description.hasPrefix("http://h/a") })
        #expect(try source("ftp://me:secret@h/a").resource.description.hasPrefix("url:ftp://h/a "))
        let url = try #require(URL(string: "http://me:secret@h/a?b=1&c=2#d"))
        #expect(ResourceKey(url, ignoringQueryItems: ["b"]).description.hasPrefix("http://h/a?c=2 "))
    }

    @Test func `different kinds of sources never share a resource`() throws {
        let sources: [ImageSource] = [
            .file("a"), .bytes(Data(), identity: "a"), .provider(identity: "a") { Data() }, .dataURL("data:,a"),
            .image(.gray(side: 1), identity: "a"), .imageProvider(identity: "a") { .gray(side: 1) },
            try source("http://a"), try source("ftp://a"), try source("bytes:a"), try source("file://a/b"),
            .file("//a/b"),
        ]
        #expect(Set(sources.map(\.resource)).count == sources.count)
    }

    @Test func `only remote sources are stored on disk`() throws {
        #expect(try source("http://h/a").isWorthStoring)
        #expect(try source("ftp://h/a").isWorthStoring)
        #expect(ImageSource.provider(identity: "a") { Data() }.isWorthStoring)
        #expect(!ImageSource.file("/a").isWorthStoring)
        #expect(!ImageSource.bytes(Data(), identity: "a").isWorthStoring)
        #expect(!ImageSource.dataURL("data:,").isWorthStoring)
        #expect(!ImageSource.image(.gray(side: 1), identity: "a").isWorthStoring)
        #expect(!ImageSource.imageProvider(identity: "a") { .gray(side: 1) }.isWorthStoring)
    }
}
