import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import Dispatch
import FoundationEssentials
import TestSupport
import Testing

/// The closures of providers may use the pipeline that calls them.
@Suite(.timeLimit(.minutes(10)))
struct ProviderTests {
    private struct NoResponses: ResponseCacheAccess {
        func hasResponse(for request: HTTPRequest, ignoringMemory: Bool) async -> Bool { false }

        func removeAllResponses(for request: HTTPRequest) async {}

        func removeAll() async {}
    }

    /// A use of the pipeline within a closure.
    enum Use: CaseIterable {
        case data, image
    }

    private let pipeline = ImagePipeline(
        ImagePipeline.Configuration(
            downloader: Downloader(transport: FakeTransport(body: level(3)), responseCache: NoResponses()),
            codecs: FakeCodec().registry, memoryCache: DictionaryMemoryCache(), diskCache: FakeDataCache()))
    private let running = Watched(0)

    private func load(_ request: ImageRequest, _ use: Use) async throws {
        switch use {
        case .data: _ = try await pipeline.data(for: request)
        case .image: _ = try await pipeline.load(request)
        }
    }

    /// Returns a source whose closure waits until this many run, and then uses the pipeline.
    private func provider(
        _ identity: String, among count: Int = 1, _ body: @escaping @Sendable () async throws -> Void
    ) -> ImageRequest {
        ImageRequest(
            source: .provider(identity: identity) { [running] in
                running.update { $0 += 1 }
                try await running.waitUntil { $0 >= count }
                try await body()
                return level(7)
            })
    }

    private func cacheOnly(_ request: ImageRequest) -> ImageRequest {
        var request = request
        request.cachePolicy = .cacheOnly
        return request
    }

    private func end(_ requests: [ImageRequest]) async throws -> [Result<ImageResponse, any Error>] {
        var results: [Result<ImageResponse, any Error>] = []
        try await pipeline.loadAll(requests, maxConcurrentLoads: requests.count) { results.append($1) }
        return results
    }

    @Test(arguments: Use.allCases)
    func `provider closures that load through the same pipeline complete at any concurrency`(use: Use) async throws {
        // From now on this many bytes are expected of each load.
        let large = ImageRequest(source: .provider(identity: "large") { level(1) + Data(count: 4 << 20) })
        _ = try await pipeline.data(for: large)
        let collages = (0..<48).map { number in
            provider("collage \(number)", among: 48) {
                for tile in 0..<3 { try await load(try web("\(number)-\(tile)"), use) }
                try await load(provider("tile \(number)") {}, use)
            }
        }

        let results = try await end(collages)

        #expect(results.allSatisfy { (try? $0.get().image.level) == 7 })
    }

    @Test(arguments: Use.allCases)
    func `a provider closure that loads its own image receives an error`(use: Use) async throws {
        let own = Watched<(any Error)?>(nil)
        let request = provider("own") {
            do {
                try await load(provider("own") {}, use)
            } catch {
                own.update { $0 = error }
            }
        }

        #expect(try await pipeline.load(request).image.level == 7)

        let error = try #require(own.value as? PipelineError)
        #expect(error.code == .download)
        #expect(error.message.contains("own closure"))
    }

    @Test func `a provider closure that loads a variant of its own image receives an error`() async throws {
        var variant = provider("own") {}
        variant.processors = [Brighten(step: 1)]
        variant.resource = ResourceKey("another name")
        let request = provider("own") { [variant] in try await load(variant, .image) }

        let error = await #expect(throws: PipelineError.self) { try await pipeline.load(request) }

        #expect(error?.code == .download)
    }

    @Test(arguments: Use.allCases)
    func `a provider closure that loads another source under its own name receives an error`(use: Use) async throws {
        var inner = provider("other") {}
        inner.resource = ResourceKey("name")
        let own = Watched<PipelineError?>(nil)
        var request = provider("own") { [inner] in
            let error = await #expect(throws: PipelineError.self) { try await load(inner, use) }
            own.update { $0 = error }
        }
        request.resource = inner.resource

        try await load(request, use)

        #expect(own.value?.code == .download)
        #expect(own.value?.message.contains("own closure") == true)
    }

    @Test func `a provider closure that reloads another source under its own name receives the bytes`() async throws {
        var inner = try web("a")
        inner.cachePolicy = .reload
        var request = provider("own") { [inner] in try await load(inner, .data) }
        request.resource = inner.originalKey.resource

        #expect(try await pipeline.load(request).image.level == 7)
    }

    @Test func `provider closures that wait for each other receive an error, whichever began`() async throws {
        let requests = [("a", "b"), ("b", "a")].map { name, other in
            provider(name, among: 2) { try await load(provider(other) {}, .data) }
        }

        let results = try await end(requests)

        let errors = results.compactMap { result -> PipelineError? in
            if case .failure(let error) = result { error as? PipelineError } else { nil }
        }
        #expect(errors.first?.code == .download)
    }

    @Test func `a provider closure may look for its own image in the caches`() async throws {
        let found = Watched<[PipelineError.Code?]>([])
        let request = provider("own") {
            let cached = cacheOnly(provider("own") {})
            let error = await #expect(throws: PipelineError.self) { try await load(cached, .image) }
            found.update { $0.append(error?.code) }
        }

        #expect(try await pipeline.load(request).image.level == 7)

        #expect(found.value == [.notInCache])
    }

    @Test func `a task that outlives its provider closure loads the image`() async throws {
        let (gate, opening) = AsyncStream<Void>.makeStream()
        let later = Watched<Task<Void, any Error>?>(nil)
        let request = provider("own") {
            let task = Task {
                for await _ in gate {}
                var own = provider("own") {}
                own.cachePolicy = .none
                try await load(own, .image)
            }
            later.update { $0 = task }
        }
        _ = try await pipeline.load(request)

        opening.finish()

        try await later.value?.value
        #expect(running.value == 2)
    }

    @Test func `with caches only, no provider closure is called`() async throws {
        for request in [cacheOnly(provider("a") {}), cacheOnly(imageProvider("a") {})] {
            let error = await #expect(throws: PipelineError.self) { try await pipeline.load(request) }

            #expect(error?.code == .notInCache)
        }
        #expect(running.value == 0)
    }

    // MARK: Closures that return images

    private func imageProvider(
        _ identity: String, _ body: @escaping @Sendable () async throws -> Void
    ) -> ImageRequest {
        ImageRequest(
            source: .imageProvider(identity: identity) { [running] in
                running.update { $0 += 1 }
                try await body()
                return .gray(side: 1, level: 9)
            })
    }

    @Test func `the image of a closure is kept in memory, without a download, a decode and a write to disk`()
        async throws
    {
        let stack = Stack(FakeDownloader { _, _ in throw HTTPTransportError(.offline, "not expected") })
        let request = imageProvider("page") {}
        var variant = request
        variant.processors = [Brighten(step: 1)]
        variant.dataCachePolicy = .both

        let response = try await stack.load(request)

        #expect(response.image.level == 9)
        #expect(response.layer == .local)
        #expect(response.encodedByteCount == nil)
        #expect(try await stack.load(request).layer == .memory)
        #expect(try await stack.load(variant).image.level == 10)
        #expect(running.value == 1)
        await stack.pipeline.flush()
        #expect(stack.disk.stores.value == 0)
        #expect(stack.downloader.count == 0)
        let error = await #expect(throws: PipelineError.self) { try await stack.pipeline.data(for: request) }
        #expect(error?.code == .download)
    }

    @Test func `concurrent requests share one call of a closure that returns an image`() async throws {
        let (gate, opening) = AsyncStream<Void>.makeStream()
        let request = imageProvider("page") { for await _ in gate {} }
        var variant = request
        variant.processors = [Brighten(step: 1)]
        let loads = [request, variant].map { request in Task { try await pipeline.load(request).image.level } }
        try await running.waitUntil { $0 == 1 }

        opening.finish()

        #expect(try await loads[0].value == 9)
        #expect(try await loads[1].value == 10)
        #expect(running.value == 1)
    }

    @Test func `a closure that blocks its thread does not hold up a canceled caller`() async throws {
        let end = DispatchSemaphore(value: 0)
        let block: @Sendable () -> Void = { end.wait() }
        let request = imageProvider("page") { block() }
        let load = Task { try await pipeline.load(request) }
        try await running.waitUntil { $0 == 1 }

        load.cancel()

        await #expect(throws: CancellationError.self) { try await load.value }
        end.signal()
        await pipeline.shutDown()
    }

    @Test func `a closure that returns an image may load others, but not its own`() async throws {
        let request = imageProvider("own") {
            try await load(try web("a"), .image)
            try await load(imageProvider("own") {}, .image)
        }

        let error = await #expect(throws: PipelineError.self) { try await pipeline.load(request) }

        #expect(error?.code == .download)
        #expect((error?.cause as? PipelineError)?.message.contains("own closure") == true)
    }

    @Test(arguments: [false, true])
    func `a closure that cancels its own work is an error, and not a cancellation of the load`(
        returnsImage: Bool
    ) async throws {
        let body: @Sendable () async throws -> Void = { throw CancellationError() }
        let request = returnsImage ? imageProvider("a", body) : provider("a", body)

        let error = await #expect(throws: PipelineError.self) { try await pipeline.load(request) }

        #expect(error?.code == .providerCancelled)
        #expect(error?.cause is CancellationError)
    }

    @Test(arguments: [false, true])
    func `a closure whose load is canceled is canceled, and the caller receives CancellationError`(
        returnsImage: Bool
    ) async throws {
        let ends = Watched<[Bool]>([])
        let (gate, opening) = AsyncStream<Void>.makeStream()
        let body: @Sendable () async throws -> Void = {
            // Iteration ends when the task is canceled.
            for await _ in gate {}
            ends.update { $0.append(Task.isCancelled) }
            try Task.checkCancellation()
        }
        let request = returnsImage ? imageProvider("a", body) : provider("a", body)
        let load = Task { try await pipeline.load(request) }
        try await running.waitUntil { $0 == 1 }

        load.cancel()

        await #expect(throws: CancellationError.self) { try await load.value }
        try await ends.waitUntil { $0 == [true] }
        opening.finish()
    }
}
