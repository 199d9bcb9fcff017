import AlcedoCore
import AlcedoLibc
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite struct OriginFilesTests {
    private let directory: TemporaryDirectory
    private let origin: LoopbackOrigin

    init() throws {
        directory = try TemporaryDirectory()
        let base = directory.url
        let root = base.appending(path: "root")
        try FileManager.default.createDirectory(at: root.appending(path: "sub"), withIntermediateDirectories: true)
        try Data("picture".utf8).write(to: root.appending(path: "sub/a b.PNG"))
        try Data("secret".utf8).write(to: base.appending(path: "secret"))
        symlink(base.appending(path: "secret").path, root.appending(path: "link").path)
        origin = try LoopbackOrigin(directory: root)
    }

    private func get(_ target: String, _ fields: String = "") throws -> String {
        let client = try RawClient(port: origin.port)
        client.send("GET \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(fields)\r\n")
        return try client.receiveAll()
    }

    @Test func `a file is served with its type and validators`() throws {
        let response = try get("/sub/a%20b.PNG")

        #expect(response.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nETag: \""))
        #expect(response.contains("Last-Modified: "))
        #expect(response.hasSuffix("\r\n\r\npicture"))
    }

    @Test(arguments: ["If-None-Match": "ETag", "If-Modified-Since": "Last-Modified"])
    func `a conditional request that matches receives 304`(condition: String, validator: String) throws {
        let first = try get("/sub/a%20b.PNG")
        let line = try #require(first.split(separator: "\r\n").first { $0.hasPrefix(validator + ": ") })

        let second = try get("/sub/a%20b.PNG", "\(condition): \(line.dropFirst(validator.count + 2))\r\n")

        #expect(second.hasPrefix("HTTP/1.1 304 "))
        #expect(second.hasSuffix("\r\n\r\n"))
    }

    @Test(arguments: [
        ("TAG", true), ("W/TAG", true), ("\"x\" , TAG", true), ("TAG\t, \"x\"", true), ("\"a,b\",TAG,", true),
        ("*", true),
        ("\"x\"", false), ("\"TAG, x\"", false), ("*, \"x\"", false), ("", false),
    ])
    func `If-None-Match is a list of quoted tags`(condition: String, isMatch: Bool) throws {
        let first = try get("/sub/a%20b.PNG")
        let line = try #require(first.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") })
        let tags = condition.replacing("TAG", with: line.dropFirst("ETag: ".count))

        let second = try get("/sub/a%20b.PNG", "If-None-Match: \(tags)\r\n")

        #expect(second.hasPrefix(isMatch ? "HTTP/1.1 304 " : "HTTP/1.1 200 "))
    }

    @Test(arguments: [
        "/../secret", "/%2e%2e/secret", "/sub/%2E%2E/%2e%2e/secret", "/link", "/sub", "/", "/none", "/%00", "/%FF",
        "//etc/passwd", "/link/",
    ])
    func `only files below the directory are served`(target: String) throws {
        let response = try get(target)

        #expect(response.hasPrefix("HTTP/1.1 404 "))
        #expect(!response.contains("secret"))
    }

    @Test func `only GET and HEAD are allowed`() throws {
        let client = try RawClient(port: origin.port)

        client.send("DELETE /sub/a%20b.PNG HTTP/1.1\r\nConnection: close\r\n\r\n")

        #expect(try client.receiveAll().hasPrefix("HTTP/1.1 405 "))
    }

    @Test func `a missing directory throws an error`() {
        #expect(throws: OriginError.self) {
            try LoopbackOrigin(directory: directory.url.appending(path: "none"))
        }
    }
}
