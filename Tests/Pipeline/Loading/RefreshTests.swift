import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RefreshTests {
    private struct Offline: Error {}

    /// Returns prepared responses and records the policies of its requests.
    private final class Server: Sendable {
        let level: Watched<Int?>
        let policies = Watched<[HTTPCachePolicy]>([])

        init(_ level: Int?) { self.level = Watched(level) }

        var downloader: FakeDownloader {
            FakeDownloader { request, _ in
                if case .http(let http) = request.source { self.policies.update { $0.append(http.cachePolicy) } }
                guard let level = self.level.value else { throw Offline() }
                return Download(data: AlcedoPipelineTests.level(level))
            }
        }
    }

    private func request(_ change: (inout ImageRequest) -> Void = { _ in }) throws -> ImageRequest {
        try web("a") {
            $0.showsCachedFirst = true
            change(&$0)
        }
    }

    /// Returns the images that a task delivers, in order.
    private func shown(_ request: ImageRequest, by stack: Stack) async -> [String] {
        let shown = Watched<[String]>([])
        let task = stack.pipeline.startTask(request) { event in
            shown.update { shown in
                switch event {
                case .update(.cached(let response)): shown.append("cached \(response.image.level)")
                case .finished(.success(let response)): shown.append("\(response.layer) \(response.image.level)")
                case .finished(.failure): shown.append("failed")
                case .update: break
                }
            }
        }
        _ = try? await task.response
        return shown.value
    }

    @Test func `the cached image is delivered first, then the server's newer one`() async throws {
        let server = Server(7)
        let stack = Stack(server.downloader)
        _ = try await stack.load(try web("a"))
        await stack.pipeline.flush()
        server.level.update { $0 = 8 }

        #expect(await shown(try request(), by: stack) == ["cached 7", "network 8"])

        await stack.pipeline.flush()
        #expect(stack.pipeline.cachedImage(for: try web("a"))?.level == 8)
        #expect(stack.stored(try web("a")) == level(8))
        #expect(server.policies.value.last == .reloadRevalidatingCacheData)
    }

    @Test func `an image of the app is replaced by the server's, although its bytes have not changed`() async throws {
        let stack = Stack(Server(7).downloader)
        _ = try await stack.load(try web("a"))
        try await stack.pipeline.cache.store(.gray(side: 1, level: 9), for: try web("a"))

        #expect(await shown(try request(), by: stack) == ["cached 9", "network 7"])
        #expect(stack.pipeline.cachedImage(for: try web("a"))?.level == 7)
    }

    @Test func `an unchanged image is not decoded again`() async throws {
        let server = Server(7)
        let stack = Stack(server.downloader)
        _ = try await stack.load(try web("a"))
        await stack.pipeline.flush()
        #expect(await shown(try request(), by: stack) == ["cached 7", "memory 7"])
        #expect(stack.codec.decodes.value == 1)
        #expect(stack.downloader.count == 2)
    }

    @Test func `other sizes of a changed image are no longer delivered`() async throws {
        let server = Server(7)
        let stack = Stack(server.downloader)
        let bright = try web("a") { $0.processors = [Brighten(step: 1)] }
        _ = try await stack.load(try web("a"))
        _ = try await stack.load(bright)
        await stack.pipeline.flush()
        server.level.update { $0 = 20 }

        #expect(await shown(try request(), by: stack) == ["cached 7", "network 20"])
        #expect(stack.pipeline.cachedImage(for: bright) == nil)
        #expect(try await stack.load(bright).image.level == 21)
        await stack.pipeline.flush()
        #expect(stack.stored(try web("a")) == level(20))
    }

    @Test func `an image stored by another request meanwhile does not make an old image current`() async throws {
        let server = Server(7)
        let stack = Stack(server.downloader)
        _ = try await stack.load(try web("a"))
        server.level.update { $0 = 20 }
        // At that point the disk has the new bytes, and memory the old image.
        _ = try await stack.load(
            try web("a") {
                $0.processors = [Brighten(step: 1)]
                $0.cachePolicy = .reload
            })
        await stack.pipeline.flush()
        #expect(await shown(try request(), by: stack) == ["cached 7", "network 20"])
    }

    @Test func `an image from disk that is older than the bytes that are known is replaced`() async throws {
        let server = Server(7)
        let stack = Stack(server.downloader)
        let bright = try request {
            $0.processors = [Brighten(step: 1)]
            $0.dataCachePolicy = .processed
            $0.cachePolicy.memory = .none
        }
        _ = try await stack.load(bright)
        await stack.pipeline.flush()
        server.level.update { $0 = 20 }
        _ = try await stack.load(try web("a") { $0.cachePolicy = .reload })

        #expect(await shown(bright, by: stack) == ["cached 8", "network 21"])
    }

    @Test func `a processed image from disk is not made again of unchanged bytes`() async throws {
        let server = Server(7)
        let first = Stack(server.downloader)
        let processor = Brighten(step: 1)
        let bright = try request {
            $0.processors = [processor]
            $0.dataCachePolicy = .processed
        }
        _ = try await first.load(bright)
        await first.pipeline.flush()

        let second = Stack(server.downloader, disk: first.disk)
        #expect(await shown(bright, by: second) == ["cached 8", "disk 8"])
        #expect(processor.runs.value == 1)
        server.level.update { $0 = 20 }
        #expect(await shown(bright, by: Stack(server.downloader, disk: first.disk)) == ["cached 8", "network 21"])
    }

    @Test func `an image that is not cached is loaded and processed`() async throws {
        let stack = Stack(Server(7).downloader)
        let bright = try request { $0.processors = [Brighten(step: 2)] }
        #expect(await shown(bright, by: stack) == ["network 9"])
        #expect(stack.pipeline.cachedImage(for: bright)?.level == 9)
    }

    @Test func `the cached image stays when the server is unreachable`() async throws {
        let server = Server(7)
        let stack = Stack(server.downloader)
        _ = try await stack.load(try web("a"))
        server.level.update { $0 = nil }
        #expect(await shown(try request(), by: stack) == ["cached 7", "memory 7"])
        #expect(stack.log.words.contains { $0.hasPrefix("failed") })
        let empty = Stack(server.downloader)
        #expect(await shown(try request(), by: empty) == ["failed"])
    }

    @Test(arguments: [Data("<!DOCTYPE html><title>Sign in</title>".utf8), Data()])
    func `the cached image stays when the network sends a page or nothing`(bytes: Data) async throws {
        let responses = Watched([bytes, bytes, level(7)])
        let stack = Stack(FakeDownloader { _, _ in Download(data: responses.update { $0.removeLast() }) })
        _ = try await stack.load(try web("a"))
        await stack.pipeline.flush()

        #expect(await shown(try request(), by: stack) == ["cached 7", "memory 7"])

        await stack.pipeline.flush()
        #expect(stack.stored(try web("a")) == level(7))
        #expect(await shown(try request(), by: stack) == ["cached 7", "memory 7"])
    }

    @Test func `the description of an error contains the URL of the request`() async throws {
        let stack = Stack(FakeDownloader { _, _ in Download(data: Data("<html>".utf8)) })
        let error = await #expect(throws: PipelineError.self) { _ = try await stack.load(try web("a")) }
        let url = try #require(try web("a").url).absoluteString
        #expect(error?.description.contains(url) == true)
        let data = await #expect(throws: PipelineError.self) { _ = try await stack.pipeline.data(for: try web("a")) }
        #expect(data?.description.contains(url) == true)
        let file = ImageRequest(source: .file("/missing/photo.jpg"))
        let local = await #expect(throws: PipelineError.self) { _ = try await stack.load(file) }
        #expect(local?.description.contains("/missing/photo.jpg") == true)
    }

    @Test func `without network access only the cached image is delivered`() async throws {
        let server = Server(7)
        let stack = Stack(server.downloader)
        _ = try await stack.load(try web("a"))
        let offline = try request { $0.cachePolicy.allowsNetwork = false }
        #expect(await shown(offline, by: stack) == ["cached 7", "memory 7"])
        #expect(stack.downloader.count == 1)
    }

    @Test func `a partial newer image does not replace the complete one`() async throws {
        let responses = Watched([Data("part:8".utf8), level(7)])
        let stack = Stack(
            FakeDownloader { _, _ in Download(data: responses.update { $0.removeLast() }) })
        let requested = try request { $0.decoding.allowsPartial = true }
        _ = try await stack.load(try web("a") { $0.decoding.allowsPartial = true })
        await stack.pipeline.flush()

        #expect(await shown(requested, by: stack) == ["cached 7", "memory 7"])

        await stack.pipeline.flush()
        #expect(stack.stored(try web("a")) == level(7))
    }

    @Test func `a newer image with wrong pixels is shown, and replaces none in memory or on disk`() async throws {
        let responses = Watched([Data("wrong:8".utf8), level(7)])
        let stack = Stack(
            FakeDownloader { _, _ in Download(data: responses.update { $0.removeLast() }) })
        _ = try await stack.load(try web("a"))
        await stack.pipeline.flush()

        #expect(await shown(try request(), by: stack) == ["cached 7", "network 8"])

        await stack.pipeline.flush()
        #expect(stack.stored(try web("a")) == level(7))
        #expect(stack.pipeline.cachedImage(for: try web("a"))?.level == 7)
    }

    @Test func `an unchanged image is recognized without a memory cache, too`() async throws {
        let server = Server(7)
        let stack = Stack(server.downloader)
        _ = try await stack.load(try web("a"))
        await stack.pipeline.flush()
        let stores = stack.disk.stores.value

        let unkept = try request { $0.cachePolicy.memory = .none }
        #expect(await shown(unkept, by: stack) == ["cached 7", "disk 7"])

        await stack.pipeline.flush()
        #expect(stack.codec.decodes.value == 2)
        #expect(stack.disk.stores.value == stores)
        #expect(stack.pipeline.cachedImage(for: try web("a")) != nil)
    }

    @Test func `a refresh for several requests downloads and decodes once`() async throws {
        let (clock, executor, count) = (ManualClock(), ManualExecutor(), Watched(0))
        let stack = Stack(
            FakeDownloader { _, progress in
                guard
                    count.update({
                        $0 += 1; return $0 > 1
                    })
                else { return Download(data: level(7)) }
                try await clock.sleep(for: .seconds(1))
                progress(DownloadProgress(received: 1, expected: nil))
                return Download(data: level(8))
            }, executor: executor)
        let first = stack.start(try web("a"))
        executor.drain()
        _ = try await first.value
        let common = Brighten(step: 1)
        let (shown, joined) = (Watched<Set<UInt8>>([]), Watched<Set<UInt8>>([]))
        let tasks = try [2, 3].map { (step: UInt8) in
            stack.pipeline.startTask(try request { $0.processors = [common, Brighten(step: step)] }) { event in
                switch event {
                case .update(.cached): shown.update { _ = $0.insert(step) }
                case .update(.progress): joined.update { _ = $0.insert(step) }
                case .update(.preview), .finished: break
                }
            }
        }
        executor.drain()
        #expect(shown.value.count == 2)
        #expect(clock.sleeperCount == 1)
        let decodeCount = stack.codec.decodes.value
        clock.advance(by: .seconds(1))
        executor.drain()
        #expect(joined.value.count == 2)

        let levels = try await [tasks[0].response.image.level, tasks[1].response.image.level]

        #expect(levels == [11, 12])
        #expect(count.value == 2)
        #expect(stack.codec.decodes.value == decodeCount + 1)
    }
}
