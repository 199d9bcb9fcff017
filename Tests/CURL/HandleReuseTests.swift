import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HandleReuseTests {
    /// Returns requests that leave settings on a handle unless they are reset.
    private static func marked(_ base: URL) throws -> [HTTPRequest] {
        var components = try #require(URLComponents(url: base, resolvingAgainstBaseURL: false))
        (components.user, components.password) = ("ann", "secret")
        let named = try #require(components.url)
        return [
            HTTPRequest(url: base),
            HTTPRequest(url: named),
            HTTPRequest(url: base, fields: ["X-Mark": "1", "Accept": "image/png", "User-Agent": "other"]),
            HTTPRequest(url: base, fields: ["Accept-Encoding": "identity"]),
            HTTPRequest(url: base, fields: ["Range": "bytes=1-2"]),
            HTTPRequest(method: .post, url: base, body: Data("text".utf8)),
            HTTPRequest(method: .head, url: base),
            HTTPRequest(method: HTTPMethod(rawValue: "PURGE"), url: base),
        ]
    }

    @Test func `a request carries nothing from earlier requests on the connection`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello") }
        defer { origin.stop() }
        var options = CURLOptions()
        options.maxConcurrentTransfers = 1
        let transport = CURLTransport(options: options)
        for request in try Self.marked(origin.url(for: "/")) {
            for var request in [request, HTTPRequest(url: origin.url(for: "/"))] {
                request.idleTimeout = .seconds(120)
                let body = try await transport.send(request).body.collect(limit: 100)
                #expect(body == (request.method == .head ? Data() : Data("hello".utf8)))
            }
        }

        let seen = origin.requests
        #expect(seen.count == 16)
        #expect(origin.state.connectionCount == 1)
        // The requests between them are as they were sent.
        #expect(seen[2].fields["Authorization"] == "Basic YW5uOnNlY3JldA==")
        #expect(seen[4].fields["X-Mark"] == "1")
        #expect(seen[8].fields["Range"] == "bytes=1-2")
        #expect(seen[10].body == Data("text".utf8))
        #expect(seen[14].method.rawValue == "PURGE")
        for plain in [1, 3, 5, 7, 9, 11, 13, 15].map({ seen[$0] }) {
            #expect(plain.method == .get)
            #expect(plain.fields == seen[0].fields)
            #expect(plain.body.isEmpty)
        }
    }
}
