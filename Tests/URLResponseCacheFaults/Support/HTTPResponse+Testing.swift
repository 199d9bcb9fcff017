import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

extension URL {
    /// Returns the URL of a page of the test's server.
    static func page(_ name: String = "a") -> URL {
        URL(string: "http://example.test/\(name)") ?? URL(filePath: "/")
    }
}

extension HTTPResponse {
    init(_ request: HTTPRequest, status: Int = 200, _ fields: HTTPFields = [:], _ body: String = "") {
        self.init(request, status: status, fields, HTTPBody(Data(body.utf8)))
    }

    init(_ request: HTTPRequest, status: Int = 200, _ fields: HTTPFields = [:], _ body: HTTPBody) {
        self.init(head: HTTPResponseHead(url: request.url, status: status, fields: fields), body: body)
    }

    /// Returns the whole body.
    func text() async throws -> String { String(decoding: try await body.collect(limit: 1 << 26), as: UTF8.self) }

    /// The Cache-Status of this module's cache.
    var cacheStatus: String { head.fields.values(of: "Cache-Status").last ?? "" }
}
