import Alcedo
import AlcedoHTTP
import AlcedoRedisCache
import AlcedoTesting
import Dispatch
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

/// Many requests, disconnecting clients, and shutdown.
@Suite(.timeLimit(.minutes(10)))
struct LoadTests {
    private static let stalled: @Sendable (OriginRequest) -> OriginReply = { _ in
        .ok(TestServer.opaque).stalling(at: .beforeHead)
    }

    @Test func `over the limit requests are refused, and images in memory are still served`() async throws {
        try await TestServer.run(
            change: { $0.service.maxConcurrentRequests = 4 },
            handler: { $0.path == "/quick" ? .ok(TestServer.opaque) : Self.stalled($0) }
        ) { (server: TestServer) async throws in
            #expect(try await server.get(server.target("/quick")).status == 200)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for path in ["/a", "/b"] { group.addTask { try await server.get(server.target(path)).status } }
                try await server.origin.waitForStalls(count: 2)

                let shed = try await server.get(server.target("/c"))
                #expect(shed.status == 503)
                #expect(shed.fields["Retry-After"] == "1")
                #expect(try await server.get(server.target("/quick")).status == 200)
                #expect(try await server.get("/health").status == 200)
                #expect(try await server.number("thumbnail_requests_in_flight") == 2)
                #expect(try await server.number("thumbnail_requests_shed_total") == 1)

                server.origin.release()
                for try await status in group { #expect(status == 200) }
            }
            try await server.wait(for: "thumbnail_requests_in_flight", toBe: 0)
        }
    }

    @Test func `a stored thumbnail is served when the limits are reached`() async throws {
        let directory = try TemporaryDirectory()
        try await TestServer.run(
            change: { settings in
                settings.service.maxConcurrentRequests = 2
                (settings.cacheDirectory, settings.memoryLimit) = (directory.url, 0)
            },
            handler: { $0.path == "/quick" ? .ok(TestServer.opaque) : Self.stalled($0) }
        ) { (server: TestServer) async throws in
            #expect(try await server.get(server.target("/quick")).status == 200)
            try await server.wait(for: "thumbnail_store_pending", toBe: 0)
            async let stalled = server.get(server.target("/a"))
            try await server.origin.waitForStalls()

            #expect(try await server.get(server.target("/b")).status == 503)
            #expect(try await server.get(server.target("/quick")).status == 200)
            #expect(try await server.number("thumbnail_responses_total{source=\"store\"}") == 1)
            #expect(try await server.number("thumbnail_requests_shed_total") == 1)

            server.origin.release()
            #expect(try await stalled.status == 200)
            #expect(server.origin.requests.map(\.path) == ["/quick", "/a"])
        }
    }

    @Test func `new names take half of the requests, and known machines have the others`() async throws {
        try await TestServer.run(change: { $0.service.maxConcurrentRequests = 8 }, handler: Self.stalled) {
            (server: TestServer) async throws in
            try await expectThumbnailOfOtherMachine(server)
            func target(_ number: Int) -> String {
                server.target("/a").replacing("127.0.0.1", with: "\(number).localhost")
            }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<4 { group.addTask { try await server.get(target(number)).status } }
                try await server.origin.waitForStalls(count: 4)

                #expect(try await server.get(target(4)).status == 503)
                try await expectThumbnailOfOtherMachine(server)

                server.origin.release()
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    @Test func `a stalled host delays no other`() async throws {
        try await TestServer.run(
            change: { settings in
                settings.limits.maxConcurrentOriginals = 3
                settings.limits.maxConcurrentOriginalsPerHost = 2
            },
            handler: { ["/a", "/b"].contains($0.path) ? Self.stalled($0) : .ok(TestServer.opaque) }
        ) { (server: TestServer) async throws in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for path in ["/a", "/b"] { group.addTask { try await server.get(server.target(path)).status } }
                try await server.origin.waitForStalls(count: 2)
                for path in ["/c", "/d"] { group.addTask { try await server.get(server.target(path)).status } }
                try await server.wait(for: "thumbnail_requests_in_flight", toBe: 4)
                for path in ["/c", "/d"] { try await server.waitUntilQueued(server.target(path)) }

                try await expectThumbnailOfOtherMachine(server)
                #expect(server.origin.requests.count == 2)

                server.origin.release()
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    /// Requests a thumbnail whose original is on another machine than the server's own origin.
    private func expectThumbnailOfOtherMachine(_ server: TestServer) async throws {
        var options = OriginOptions()
        options.machine = 2
        let other = try LoopbackOrigin(options: options) { _ in .ok(TestServer.opaque) }
        defer { other.stop() }
        let target = "/thumbnail?url=\(QueryItems.encoded(other.url(for: "/quick").absoluteString))&w=16"
        #expect(try await server.get(target).status == 200)
    }

    @Test func `more than sixteen slow originals of one host delay no other host, and take no decoder`() async throws {
        try await TestServer.run(
            change: { settings in
                settings.limits.maxConcurrentOriginalsPerHost = 24
                settings.maxConcurrentDecodes = 1
            },
            handler: { _ in .ok(TestServer.opaque).stalling(at: .afterBody(TestServer.opaque.count / 2)) }
        ) { (server: TestServer) async throws in
            try await withThrowingTaskGroup(of: Int.self) { group in
                // A client has at most 16 connections to one host.
                let clients = [server.client, CURLTransport()]
                for number in 0..<24 {
                    group.addTask {
                        let target = server.target("/\(number)")
                        return try await TestServer.get(target, from: server.port, by: clients[number % 2]).status
                    }
                }
                try await server.origin.waitForStalls(count: 24)

                try await expectThumbnailOfOtherMachine(server)

                server.origin.release()
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    @Test func `the names and spellings of one machine share its permits, and delay no other machine`() async throws {
        try await TestServer.run(
            change: { settings in
                settings.limits.maxConcurrentOriginals = 3
                settings.limits.maxConcurrentOriginalsPerHost = 2
            }, handler: Self.stalled
        ) { (server: TestServer) async throws in
            try await withThrowingTaskGroup(of: Int.self) { group in
                let names = [
                    "127.0.0.1", "127.1", "2130706433", "0x7f000001", "localhost", "a.localhost", "b.localhost",
                    "c.localhost",
                ]
                let targets = names.map { server.target("/a").replacing("127.0.0.1", with: $0) }
                for target in targets.prefix(2) { group.addTask { try await server.get(target).status } }
                try await server.origin.waitForStalls(count: 2)
                for target in targets.dropFirst(2) { group.addTask { try await server.get(target).status } }
                for target in targets.dropFirst(2) { try await server.waitUntilQueued(target) }
                #expect(server.origin.requests.count == 2)

                try await expectThumbnailOfOtherMachine(server)

                for count in [2, 4, 6, 8] {
                    try await server.origin.waitUntil { $0.requestCount == count && $0.stalledCount == 2 }
                    server.origin.release()
                }
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    @Test func `an original that is being decoded holds no permit of the network`() async throws {
        let origin = try LoopbackOrigin { _ in .ok(TestServer.opaque) }
        defer { origin.stop() }
        let decoder = HeldDecoder()
        let entry = CodecRegistry.Entry(format: .png, decoder: decoder) { _ in true }
        var settings = TestServer.settings
        settings.limits.maxConcurrentOriginals = 1
        let stack = ServerStack(settings, codecs: ServerCodecs(registry: CodecRegistry([entry])))
        let works = try ["/a", "/b"].map { path in
            let url = QueryItems.encoded(origin.url(for: path).absoluteString)
            let head = RequestHead(method: "GET", target: "/thumbnail?url=\(url)&w=10")
            guard case .asynchronous(let work) = stack.service.respond(to: head) else {
                throw HTTPError(400, "nothing is begun")
            }
            return Task { await work().status }
        }

        // Both are decoded at the same time, on two threads.
        try await decoder.held.waitUntil { $0 == 2 }

        for _ in works { decoder.gate.signal() }
        for work in works { #expect(await work.value == 200) }
        await stack.shutDown()
    }

    @Test func `slow decodes of one machine leave a thread to others, and wait until they are refused`() async throws {
        let slow = try LoopbackOrigin { _ in .ok(TestServer.clear) }
        var options = OriginOptions()
        options.machine = 2
        let other = try LoopbackOrigin(options: options) { _ in .ok(TestServer.opaque) }
        defer { for origin in [slow, other] { origin.stop() } }
        let decoder = HeldDecoder { $0 == TestServer.clear }
        let entry = CodecRegistry.Entry(format: .png, decoder: decoder) { _ in true }
        var settings = TestServer.settings
        settings.maxConcurrentDecodes = 1
        let stack = ServerStack(settings, codecs: ServerCodecs(registry: CodecRegistry([entry])))
        func head(_ url: URL, host: String = "127.0.0.1") -> RequestHead {
            let url = QueryItems.encoded(url.absoluteString.replacing("127.0.0.1", with: host))
            return RequestHead(method: "GET", target: "/thumbnail?url=\(url)&w=10")
        }
        func begin(_ head: RequestHead) throws -> Task<ServerResponse, Never> {
            guard case .asynchronous(let work) = stack.service.respond(to: head) else {
                throw HTTPError(400, "nothing is begun")
            }
            return Task { await work() }
        }
        // Two names of one machine have its turns.
        let heads = ["127.0.0.1", "localhost", "127.0.0.1", "localhost"].enumerated().map { number, host in
            head(slow.url(for: "/\(number)"), host: host)
        }
        let works = try heads.map(begin)
        try await slow.waitForRequest(count: 4)
        try await decoder.held.waitUntil { $0 == 1 }
        try await eventually { heads.count { stack.service.isQueued($0) } == 3 }

        let response = try await begin(head(other.url(for: "/quick"))).value

        #expect(response.status == 200)
        #expect(decoder.held.value == 1)
        let late = heads.map { stack.service.timeoutResponse(to: $0) }
        #expect(late.map(\.status).sorted() == [503, 503, 503, 504])
        #expect(late.allSatisfy { $0.status == 504 || $0.fields["Retry-After"] == "1" })

        // One that is canceled while it waits has no turn.
        let canceled = try #require(heads.lastIndex { stack.service.isQueued($0) })
        works[canceled].cancel()
        #expect(await works[canceled].value.status == 503)
        try await eventually { heads.count { stack.service.isQueued($0) } == 2 }
        for _ in 0..<3 { decoder.gate.signal() }
        for (number, work) in works.enumerated() where number != canceled { #expect(await work.value.status == 200) }
        #expect(decoder.held.value == 3)
        await stack.shutDown()
    }

    @Test func `slow decodes of two machines leave a thread to a third one`() async throws {
        let origins = try (1...3).map { machine in
            var options = OriginOptions()
            options.machine = UInt8(machine)
            let image = machine == 3 ? TestServer.opaque : TestServer.clear
            return try LoopbackOrigin(options: options) { _ in .ok(image) }
        }
        defer { for origin in origins { origin.stop() } }
        let decoder = HeldDecoder { $0 == TestServer.clear }
        let entry = CodecRegistry.Entry(format: .png, decoder: decoder) { _ in true }
        let stack = ServerStack(TestServer.settings, codecs: ServerCodecs(registry: CodecRegistry([entry])))
        func head(_ origin: LoopbackOrigin, _ path: String) -> RequestHead {
            let url = QueryItems.encoded(origin.url(for: path).absoluteString)
            return RequestHead(method: "GET", target: "/thumbnail?url=\(url)&w=10")
        }
        func begin(_ head: RequestHead) throws -> Task<Int, Never> {
            guard case .asynchronous(let work) = stack.service.respond(to: head) else {
                throw HTTPError(400, "nothing is begun")
            }
            return Task { await work().status }
        }
        var heads: [RequestHead] = []
        var works: [Task<Int, Never>] = []
        // Each of the machines has more originals than decoders.
        for (origin, held) in zip(origins, [2, 3]) {
            let further = (0..<4).map { head(origin, "/\($0)") }
            heads += further
            works += try further.map(begin)
            try await origin.waitForRequest(count: 4)
            try await decoder.held.waitUntil { $0 == held }
        }
        try await eventually { heads.count { stack.service.isQueued($0) } == 5 }

        for number in 0..<3 { #expect(try await begin(head(origins[2], "/\(number)")).value == 200) }

        #expect(decoder.held.value == 3)
        for _ in works { decoder.gate.signal() }
        for work in works { #expect(await work.value == 200) }
        await stack.shutDown()
    }

    @Test func `a disconnected client cancels its work`() async throws {
        try await TestServer.run(handler: Self.stalled) { (server: TestServer) async throws in
            let client = try RawClient(port: server.port)
            client.send("GET \(server.target("/a")) HTTP/1.1\r\nHost: a\r\n\r\n")
            try await server.origin.waitForStalls()

            client.disconnect()

            try await server.origin.waitForDisconnects()
            try await server.wait(for: "thumbnail_clients_disconnected_total", toBe: 1)
            #expect(try await server.number("thumbnail_requests_in_flight") == 0)
        }
    }

    @Test func `a disconnected client does not cancel work that another waits for`() async throws {
        try await TestServer.run(handler: Self.stalled) { (server: TestServer) async throws in
            let client = try RawClient(port: server.port)
            client.send("GET \(server.target("/a")) HTTP/1.1\r\nHost: a\r\n\r\n")
            try await server.origin.waitForStalls()
            async let response = server.get(server.target("/a"))
            try await server.waitUntilWaiters(of: server.target("/a"), are: 2)

            client.disconnect()
            try await server.wait(for: "thumbnail_clients_disconnected_total", toBe: 1)
            server.origin.release()

            #expect(try await response.status == 200)
            #expect(server.origin.requests.count == 1)
        }
    }

    @Test func `the number of originals being processed is limited`() async throws {
        try await TestServer.run(change: { $0.limits.maxConcurrentOriginals = 1 }, handler: Self.stalled) {
            (server: TestServer) async throws in
            async let first = server.get(server.target("/a"))
            try await server.origin.waitForStalls()
            async let second = server.get(server.target("/b"))
            try await server.waitUntilQueued(server.target("/b"))
            #expect(server.origin.requests.count == 1)

            server.origin.release()
            #expect(try await first.status == 200)
            try await server.origin.waitForRequest(count: 2)
            try await server.origin.waitForStalls()
            server.origin.release()
            #expect(try await second.status == 200)
        }
    }

    @Test func `a stopping server is unhealthy and begins nothing`() async throws {
        let stack = ServerStack(ServerStack.Settings())
        stack.service.beginStopping()
        for target in ["/health", "/thumbnail?url=https://a.test/&w=10"] {
            guard case .response(let response) = stack.service.respond(to: RequestHead(method: "GET", target: target))
            else {
                Issue.record("\(target) begins something")
                continue
            }
            #expect(response.status == 503)
            #expect(response.fields["Retry-After"] == "5")
        }
        await stack.shutDown()
    }

    @Test func `stopping completes running requests and refuses others`() async throws {
        let origin = try LoopbackOrigin(handler: Self.stalled)
        defer { origin.stop() }
        let running = try RunningServer(
            TestServer.settings,
            HTTPServer.Settings(
                clientTimeout: .seconds(300), responseTimeout: .seconds(300), idleGracePeriod: .seconds(300)))
        let port = running.port
        let target = "/thumbnail?url=\(QueryItems.encoded(origin.url(for: "/a").absoluteString))&w=10"
        let kept = try RawClient(port: port)
        kept.send("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n")
        // Until then the connection may not have been accepted.
        try await eventually {
            try await TestServer.get("/metrics", from: port, by: CURLTransport()).text.contains("\"404\"")
        }
        async let response = TestServer.get(target, from: port, by: CURLTransport())
        try await origin.waitForStalls()
        let stopping = Task { await running.stop(grace: .seconds(300)) }

        try await eventually { (try? RawClient(port: port)) == nil }
        // A request on an existing connection is still served, and the connection is then closed.
        kept.send("GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        let health = try await kept.readToEnd()
        origin.release()

        let last = try await response
        #expect(last.status == 200)
        #expect(last.fields["Connection"] == "close")
        await stopping.value
        #expect(health.hasPrefix("HTTP/1.1 404 "))
        #expect(health.contains("HTTP/1.1 503 "))
        #expect(health.contains("Connection: close"))
    }

    @Test func `a request unfinished at the end of the grace period receives 503`() async throws {
        let origin = try LoopbackOrigin(handler: Self.stalled)
        defer { origin.stop() }
        let running = try RunningServer(TestServer.settings, HTTPServer.Settings(responseTimeout: .seconds(300)))
        let port = running.port
        let target = "/thumbnail?url=\(QueryItems.encoded(origin.url(for: "/a").absoluteString))&w=10"
        async let response = TestServer.get(target, from: port, by: CURLTransport())
        try await origin.waitForStalls()

        await running.stop(grace: .milliseconds(1))

        let last = try await response
        #expect(last.status == 503)
        #expect(last.fields["Retry-After"] == "5")
    }

    @Test(.spawnsProcesses, .enabled(if: RedisServer.isInstalled))
    func `two servers share thumbnails through Redis`() async throws {
        let redis = try await RedisServer()
        let origin = try LoopbackOrigin(handler: TestServer.images)
        defer { origin.stop() }
        let target = "/thumbnail?url=\(QueryItems.encoded(origin.url(for: "/opaque.png").absoluteString))&w=10"
        let tags = Watched<[String?]>([])
        for _ in 0..<2 {
            try await TestServer.run(change: {
                $0.redis = RedisOptions(
                    address: .socket(redis.socket), connectTimeout: .seconds(120), responseTimeout: .seconds(120),
                    callTimeout: .seconds(120))
            }) { (server: TestServer) async throws in
                let response = try await server.get(target)
                #expect(response.status == 200)
                tags.update { $0.append(response.fields["ETag"]) }
                if tags.value.count == 2 {
                    #expect(try await server.number("thumbnail_responses_total{source=\"store\"}") == 1)
                }
            }
        }
        #expect(tags.value[0] != nil)
        #expect(tags.value[0] == tags.value[1])
        #expect(origin.requests.count == 1)
    }

    @Test(.spawnsProcesses, .enabled(if: RedisServer.isInstalled))
    func `no store serves thumbnails of private addresses to servers that must not access them`() async throws {
        let redis = try await RedisServer()
        let directory = try TemporaryDirectory()
        let origin = try LoopbackOrigin(handler: TestServer.images)
        defer { origin.stop() }
        let path = QueryItems.encoded(origin.url(for: "/kept/max-age=60").absoluteString)
        for isAllowed in [true, true, false] {
            try await TestServer.run(change: {
                $0.allowsPrivateAddresses = isAllowed
                $0.cacheDirectory = directory.url
                $0.redis = RedisOptions(
                    address: .socket(redis.socket), connectTimeout: .seconds(120), responseTimeout: .seconds(120),
                    callTimeout: .seconds(120))
            }) { (server: TestServer) async throws in
                // The second is made from the stored original, or is stored itself.
                for width in [10, 11] {
                    let response = try await server.get("/thumbnail?url=\(path)&w=\(width)")
                    #expect(response.status == (isAllowed ? 200 : 403))
                }
            }
        }
        #expect(origin.requests.count == 1)
    }

    @Test(.spawnsProcesses, .enabled(if: RedisServer.isInstalled))
    func `an unreachable Redis fails no request`() async throws {
        let redis = try await RedisServer()
        try await redis.kill()
        try await TestServer.run(change: { $0.redis = RedisOptions(address: .socket(redis.socket)) }) {
            (server: TestServer) async throws in
            for width in 1...6 {
                #expect(try await server.get(server.target("/opaque.png", "w=\(width)")).status == 200)
            }
        }
    }
}

/// Decodes every file as a gray image, and those that it holds when its gate opens.
private struct HeldDecoder: ImageDecoding {
    /// Whether a file is held. Default: every file.
    var holds: @Sendable (Data) -> Bool = { _ in true }
    let gate = DispatchSemaphore(value: 0)
    let held = Watched(0)

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        let info = ImageInfo(format: .png, size: PixelSize(width: 8, height: 8))
        return WholeImageReader(info) { [gate, held, holds] _ in
            if holds(data) {
                held.update { $0 += 1 }
                gate.wait()
            }
            return .gray(side: 8, level: 90)
        }
    }
}
