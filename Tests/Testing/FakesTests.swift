import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

struct FakesTests {
    @Test func `a transport responds by its closure and records the requests`() async throws {
        let url = try #require(URL(string: "http://fake.test/a"))
        let prepared = FakeTransport(body: Data("x".utf8), status: 203, fields: ["X-Note": "1"])
        let refusing = FakeTransport { _ in throw HTTPTransportError(.offline, "no network") }

        let response = try await prepared.send(HTTPRequest(url: url))
        await #expect(throws: HTTPTransportError.self) { try await refusing.send(HTTPRequest(url: url)) }

        #expect(response.head.url == url && response.head.status == 203 && response.head.fields["X-Note"] == "1")
        #expect(try await response.body.collect(limit: 10) == Data("x".utf8))
        #expect(prepared.requests.map(\.url) == [url] && refusing.requests.map(\.url) == [url])
    }

    @Test func `a loader loads by its closure, passes on updates and records the requests`() async throws {
        let request = ImageRequest(source: .bytes(Data(), identity: "a"))
        let received = Watched<[Int]>([])
        let loader = FakeImageLoader { _, onUpdate in
            onUpdate(.progress(DownloadProgress(received: 3, expected: nil)))
            return ImageResponse(image: .gray(side: 2), layer: .network)
        }

        let response = try await loader.load(request) { step in received.update { $0.append(step.received) } }

        #expect(response.image.size == PixelSize(width: 2, height: 2))
        #expect(received.value == [3])
        #expect(loader.requests.map(\.key) == [request.key])
    }

    @Test func `a loader returns the memory images that were set`() {
        let request = ImageRequest(source: .bytes(Data(), identity: "a"))
        let other = ImageRequest(source: .bytes(Data(), identity: "b"))
        let loader = FakeImageLoader { _, _ in throw CancellationError() }

        loader.setCachedImage(.gray(side: 2), for: request)
        #expect(loader.cachedImage(for: request) != nil && loader.cachedImage(for: other) == nil)

        loader.setCachedImage(nil, for: request)
        #expect(loader.cachedImage(for: request) == nil && loader.requests.isEmpty)
    }
}
