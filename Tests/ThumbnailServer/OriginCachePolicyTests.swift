import Alcedo
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

@testable import thumbnail_server

struct OriginCachePolicyTests {
    private let now = Date(timeIntervalSince1970: 784_111_777)

    private func policy(_ fields: HTTPFields) throws -> OriginCachePolicy {
        let url = try #require(URL(string: "https://a.test/"))
        return OriginCachePolicy(
            Download(data: Data(), head: HTTPResponseHead(url: url, status: 200, fields: fields)), now: now)
    }

    @Test(
        arguments: [
            (["Cache-Control": "max-age=60"], 60), (["Cache-Control": "max-age=60, s-maxage=\"30\""], 30),
            (["Cache-Control": "public, MAX-AGE = 60", "Age": "50"], 10),
            (["Cache-Control": "no-cache, max-age=60"], 0),
            (["Cache-Control": "max-age=rubbish"], 0),
            (["Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Expires": "Sun, 06 Nov 1994 08:50:37 GMT"], 60),
            (["Expires": "0"], 0), (["Cache-Control": "max-age=10", "Expires": "0"], 10),
            (["Cache-Control": "a=\"x, max-age=99\", max-age=5"], 5),
            (["Cache-Control": "a=\"x, no-store\", max-age=5"], 5),
        ] as [(HTTPFields, Double)])
    func `the origin's freshness is used`(fields: HTTPFields, seconds: Double) throws {
        let policy = try policy(fields)
        #expect(policy.allowsStoring)
        #expect(policy.freshUntil?.timeIntervalSince(now) == seconds)
    }

    @Test(arguments: [
        "no-store", "private", "max-age=60, no-store", "private=\"Set-Cookie\", max-age=5", "max-age=5, a=\"no-store",
        "max-age=5, a=\"\\\"", "max-age=60\"", "a\"b, no-store, c\"d", "max-age=5, \"x\"",
    ])
    func `a response that the origin forbids to store is not stored`(control: String) throws {
        let policy = try policy(["Cache-Control": control])
        #expect(policy.freshness(from: now, atMost: .seconds(60)) == nil)
    }

    @Test func `the maximum lifetime is the server's own, whatever the origin says`() throws {
        for fields: HTTPFields in [[:], ["Cache-Control": "max-age=31536000"]] {
            let date = now.addingTimeInterval(60)
            let freshness = try policy(fields).freshness(from: now, atMost: .seconds(60))
            #expect(freshness == ThumbnailFreshness(start: now, shared: date, client: date))
        }
    }

    @Test(
        arguments: [
            (["Cache-Control": "max-age=0,s-maxage=60"], 60, 0), (["Cache-Control": "max-age=60,s-maxage=0"], 0, 60),
            (["Cache-Control": "s-maxage=60"], 60, 60), (["Cache-Control": "s-maxage=60", "Expires": "0"], 60, 0),
            (["Vary": "*"], 0, 0), (["Cache-Control": "max-age=60", "Vary": "Accept, *"], 0, 0),
        ] as [(HTTPFields, Double, Double)])
    func `shared caches and clients may have different lifetimes`(
        fields: HTTPFields, shared: Double, client: Double
    ) throws {
        let freshness = try policy(fields).freshness(from: now, atMost: .seconds(600))
        #expect(
            freshness
                == ThumbnailFreshness(
                    start: now, shared: now.addingTimeInterval(shared), client: now.addingTimeInterval(client)))
    }

    @Test(
        arguments: [
            (.fresh, 20), (.stale, 20), (.revalidated, 60), (.new, 60), (nil, 60),
        ] as [(ResponseCaching.Source?, Double)])
    func `a lifetime begins with the origin's response, not with the use of its copy`(
        source: ResponseCaching.Source?, left: Double
    ) throws {
        let url = try #require(URL(string: "https://a.test/"))
        // An old response of an intermediate cache still belongs to this request.
        let head = HTTPResponseHead(url: url, status: 200, fields: ["Age": "40", "Cache-Control": "max-age=86400"])
        let caching = source.map { ResponseCaching(source: $0, decision: StorageDecision(.allowed)) }
        let policy = OriginCachePolicy(Download(data: Data(), head: head, caching: caching), now: now)

        let freshness = try #require(policy.freshness(from: now, atMost: .seconds(60)))

        #expect(freshness.shared.timeIntervalSince(now) == left)
        #expect(freshness.client.timeIntervalSince(now) == left)
        #expect(freshness.start.timeIntervalSince(now) == left - 60)
    }

    @Test(
        arguments: [
            (60.0, 60.0, nil, "max-age=60"), (0, 0, nil, "no-cache"), (-5, -5, nil, "no-cache"),
            (60, 0, nil, "max-age=0, s-maxage=60"), (0, 60, nil, "max-age=60, s-maxage=0"), (60, 60, 3.5, "max-age=3"),
            (60, 2, 3, "max-age=2, s-maxage=3"), (60, 60, 0, "no-cache"), (60, 60, 100, "max-age=60"),
        ] as [(Double, Double, Double?, String)])
    func `clients receive a lifetime that ends with the URL's validity`(
        shared: Double, client: Double, end: Double?, expected: String
    ) {
        let freshness = ThumbnailFreshness(
            start: now, shared: now.addingTimeInterval(shared), client: now.addingTimeInterval(client))
        let end = end.map { now.addingTimeInterval($0) }
        #expect(freshness.cacheControl(now: now, until: end) == expected)
    }

    @Test func `directives of redirects apply to the response and nowhere else`() async throws {
        let url = try #require(URL(string: "https://a.test/"))
        // An origin might send these fields itself.
        let origin = FakeTransport(body: Data(), fields: ["X-Alcedo-Redirect-Policy": "keep 9 9"])
        let transport = RedirectPolicyTransport(origin)
        let plain = try await transport.send(HTTPRequest(url: url))
        #expect(RedirectPolicyTransport.recorded(in: plain.head.fields) == nil)

        var request = HTTPRequest(url: url)
        for control in ["max-age=60", "no-store", "s-maxage=30, max-age=90"] {
            // Each redirect's head contains the directives of the previous ones.
            var head = try await transport.send(request).head
            head.fields["Cache-Control"] = control
            request = RedirectPolicyTransport.recording(head, in: HTTPRequest(url: url), now: now)
        }
        let last = try await transport.send(request)
        let policy = OriginCachePolicy(Download(data: Data(), head: last.head), now: now)
        #expect(
            policy
                == OriginCachePolicy(
                    allowsStoring: false, freshUntil: now.addingTimeInterval(30),
                    clientFreshUntil: now.addingTimeInterval(60)))
        #expect(origin.requests.count == 5)
        #expect(origin.requests.allSatisfy { $0.fields.fields.isEmpty })
    }
}
