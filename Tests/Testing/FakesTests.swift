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

        #expect(response.head.url == url)
        #expect(response.head.status == 203)
        #expect(response.head.fields["X-Note"] == "1")
        #expect(try await response.body.collect(limit: 10) == Data("x".utf8))
        #expect(prepared.requests.map(\.url) == [url])
        #expect(refusing.requests.map(\.url) == [url])
    }

    @Test func `a network ends all waits when it becomes available, and records their URLs`() async throws {
        let urls = try ["http://fake.test/a", "http://fake.test/b"].map { try #require(URL(string: $0)) }
        let network = ManualNetworkMonitor(isOnline: false)
        let waits = urls.map { url in Task.immediate { try await network.waitUntilOnline(for: url) } }
        let canceled = Task { try await network.waitUntilOnline(for: urls[0]) }
        try await network.waitForWaits(count: 3)

        canceled.cancel()
        await #expect(throws: CancellationError.self) { try await canceled.value }
        network.isOnline = true

        for wait in waits { try await wait.value }
        #expect(network.isOnline)
        #expect(network.urls == urls + [urls[0]])
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
        #expect(loader.cachedImage(for: request) != nil)
        #expect(loader.cachedImage(for: other) == nil)

        loader.setCachedImage(nil, for: request)
        #expect(loader.cachedImage(for: request) == nil)
        #expect(loader.requests.isEmpty)
    }
    @Test func `a loader holds loads until they are released`() async throws {
        let request = ImageRequest(source: .bytes(Data(), identity: "a"))
        let calls = Watched(0)
        let loader = FakeImageLoader { _, _ in
            calls.update { $0 += 1 }
            return ImageResponse(image: .gray(side: 2), layer: .network)
        }

        loader.hold()
        async let first = loader.image(for: request)
        async let second = loader.image(for: request)
        try await loader.waitForHeldLoads(count: 2)
        #expect(calls.value == 0)
        #expect(loader.requests.count == 2)

        loader.release()
        #expect(try await first.size == PixelSize(width: 2, height: 2))
        #expect(try await second.size == PixelSize(width: 2, height: 2))
        #expect(try await loader.image(for: request).size == PixelSize(width: 2, height: 2))
        #expect(calls.value == 3)
    }

    @Test func `a held load ends with its task and is no longer counted`() async throws {
        let request = ImageRequest(source: .bytes(Data(), identity: "a"))
        let loader = FakeImageLoader { _, _ in ImageResponse(image: .gray(side: 2), layer: .network) }

        loader.hold()
        let canceled = Task { try await loader.image(for: request) }
        try await loader.waitForHeldLoads()
        canceled.cancel()
        await #expect(throws: CancellationError.self) { try await canceled.value }

        let waiting = Task { try await loader.image(for: request) }
        try await loader.waitForHeldLoads(count: 1)
        let isShort = Task { try await loader.waitForHeldLoads(count: 2) }
        isShort.cancel()
        await #expect(throws: CancellationError.self) { try await isShort.value }
        loader.release()
        #expect(try await waiting.value.size == PixelSize(width: 2, height: 2))
    }

    @Test func `a release lets a load through that is held again at once`() async throws {
        let request = ImageRequest(source: .bytes(Data(), identity: "a"))
        let loader = FakeImageLoader { _, _ in ImageResponse(image: .gray(side: 2), layer: .network) }

        loader.hold()
        let earlier = Task { try await loader.image(for: request) }
        try await loader.waitForHeldLoads()
        loader.release()
        loader.hold()
        #expect(try await earlier.value.size == PixelSize(width: 2, height: 2))

        let later = Task { try await loader.image(for: request) }
        try await loader.waitForHeldLoads()
        loader.release()
        #expect(try await later.value.size == PixelSize(width: 2, height: 2))
    }
}
