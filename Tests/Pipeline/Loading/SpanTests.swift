import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials
import TestSupport
import Testing

/// Records the beginnings and ends of spans in their order.
private struct Spans: LoadTracing {
    private let records = Watched<[LoadSpan]>([])

    func spanDidBegin(_ span: LoadSpan) { records.update { $0.append(span) } }

    func spanDidEnd(_ span: LoadSpan) { records.update { $0.append(span) } }

    /// The ended spans in the order in which they began.
    var ended: [LoadSpan] { records.value.filter { $0.end != nil }.sorted { $0.id < $1.id } }

    /// Each call as text: the name of a span, its detail in brackets, a sign of its outcome unless it is a success, and
    /// its children in parentheses.
    var trees: [String] {
        let spans = ended
        return spans.filter { $0.parent == nil }.map { Self.text($0, spans) }
    }

    private static func text(_ span: LoadSpan, _ all: [LoadSpan]) -> String {
        var text = span.name.rawValue
        if let detail = span.detail { text += "[\(detail)]" }
        switch span.outcome {
        case .success: break
        case .miss(let reason): text += "?\(reason.rawValue)"
        case .failure: text += "!"
        case .cancelled: text += "~"
        case nil: text += "…"
        }
        let children = all.filter { $0.parent == span.id }.map { Self.text($0, all) }
        return children.isEmpty ? text : "\(text)(\(children.joined(separator: ", ")))"
    }

    /// Expects that each span began once and then ended once, and that its parent began before it.
    func expectBalance(sourceLocation: SourceLocation = #_sourceLocation) {
        var begun: [LoadSpan.ID: LoadSpan] = [:]
        var open: Set<LoadSpan.ID> = []
        for span in records.value {
            if let end = span.end {
                let wasOpen = open.remove(span.id) != nil
                #expect(wasOpen, "\(span) ended twice", sourceLocation: sourceLocation)
                #expect(span.outcome != nil, sourceLocation: sourceLocation)
                #expect(end >= span.start, sourceLocation: sourceLocation)
            } else {
                #expect(span.outcome == nil, sourceLocation: sourceLocation)
                #expect(begun[span.id] == nil, sourceLocation: sourceLocation)
                let root = span.parent.map { begun[$0]?.root } ?? span.id
                #expect(span.root == root, "the parent of \(span) is unknown", sourceLocation: sourceLocation)
                begun[span.id] = span
                open.insert(span.id)
            }
        }
        #expect(!begun.isEmpty, sourceLocation: sourceLocation)
        let names = open.compactMap { begun[$0]?.name }
        #expect(names.isEmpty, "these have not ended", sourceLocation: sourceLocation)
    }
}

/// Takes the rows of the decoder, and returns the image unchanged or throws.
private struct Fused: ImageProcessing {
    var error: ImageProcessingError?

    var identifier: String { "fused" }
    var decodingTarget: TargetSize? { TargetSize(width: 1, height: 1) }

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        if let error { throw error }
        return image
    }
}

/// Decodes every file to a pixel of level 7, and encodes levels, in steps of its own. Decodes throw the error.
private struct TracedService: AsyncImageDecoding, AsyncImageEncoding {
    let format = ImageFormat(rawValue: "service")
    var error: ImageDecodingError?

    /// A registry with only this codec.
    var registry: CodecRegistry {
        let encoder = self
        return CodecRegistry([
            CodecRegistry.Entry(
                format: format, asyncDecoder: self, recognizes: { _ in true }, makeAsyncEncoder: { _ in encoder })
        ])
    }

    func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        ImageInfo(format: format, size: PixelSize(width: 1, height: 1), colorModel: .gray)
    }

    func decode(_ data: Data, options: DecodingOptions, priority: PriorityHandle) async throws -> DecodedImage {
        try await LoadSpan.run("read") {
            // The span is still the current one after a suspension.
            await Task {}.value
            if let error { throw error }
            return .gray(side: 1, level: 7)
        }
    }

    func encode(_ image: DecodedImage) async throws -> Data {
        await LoadSpan.run("write") {
            await Task {}.value
            return level(Int(image.level))
        }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct SpanTests {
    private let spans = Spans()
    private let clock = ManualClock()
    private let executor = ManualExecutor()

    private func stack(
        _ downloader: FakeDownloader, disk: FakeDataCache = FakeDataCache(), executor: ManualExecutor? = nil
    ) -> Stack {
        Stack(
            downloader, colorConverter: FakeColorConverter(), disk: disk, clock: clock, tracers: [spans],
            executor: executor)
    }

    /// Runs loads of a pipeline without caches, over a transport, and returns when all work has ended.
    private func withPipeline(
        over transport: any HTTPTransport, maxConcurrentDownloads: Int = 6,
        _ body: (ImagePipeline) async throws -> Void
    ) async throws {
        let downloader = Downloader(
            transport: transport,
            configuration: DownloaderConfiguration(maxConcurrentDownloads: maxConcurrentDownloads))
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: FakeCodec().registry, tracers: [spans]))
        try await body(pipeline)
        await pipeline.shutDown()
        await downloader.shutDown()
    }

    /// A downloader that returns a level after the clock has advanced.
    private var waiting: FakeDownloader {
        FakeDownloader { [clock] _, _ in
            try await clock.sleep(for: .seconds(1))
            return Download(data: level(7))
        }
    }

    // MARK: Success

    @Test func `the steps of a load nest in the order of the stages`() async throws {
        let stack = stack(FakeDownloader(giving: level(7)))
        let request = try web("a") {
            $0.processors = [Brighten(step: 1), Brighten(step: 2)]
            $0.colorSpace = .displayP3
        }
        _ = try await stack.load(request)
        await stack.pipeline.flush()
        _ = try await stack.load(request)
        await stack.pipeline.shutDown()

        spans.expectBalance()
        let cold = [
            "memoryLookup?notStored", "diskLookup?notStored(queueWait)", "download",
            "decode(queueWait, colorConversion)", "queueWait", "process[brighten(1)]", "process[brighten(2)]",
            "diskStore(queueWait)",
        ]
        #expect(spans.trees == ["load(\(cold.joined(separator: ", ")))", "load(memoryLookup)"])
        #expect(spans.ended.allSatisfy { $0.key.resource == request.key.resource })
    }

    @Test func `processed images are encoded and stored in the trace of their load, and later decoded`() async throws {
        let stack = stack(FakeDownloader(giving: level(7)))
        let request = try web("a") {
            $0.processors = [Brighten(step: 1)]
            $0.dataCachePolicy = .both
        }
        _ = try await stack.load(request)
        await stack.pipeline.flush()
        let tree = try #require(spans.trees.first)
        #expect(tree.contains("diskStore(queueWait)"))
        #expect(tree.contains("diskStore(queueWait, encode, queueWait)"))

        stack.memory.removeAll()
        _ = try await stack.load(request)
        await stack.pipeline.shutDown()

        spans.expectBalance()
        #expect(spans.trees.last == "load(memoryLookup?evicted, diskLookup(queueWait), decode(queueWait))")
    }

    @Test(arguments: [nil, Duration.seconds(5)])
    func `asynchronous codecs are steps of the decode and the write, also with a limit of time`(
        timeout: Duration?
    ) async throws {
        let memory = DictionaryMemoryCache()
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: FakeDownloader(giving: level(7)), codecs: TracedService().registry, memoryCache: memory,
                diskCache: FakeDataCache(), dataCachePolicy: .processed, tracers: [spans], clock: clock,
                asyncCodecTimeout: timeout))
        let request = try web("a") { $0.processors = [Brighten(step: 1)] }
        _ = try await pipeline.load(request)
        await pipeline.flush()
        let tree = try #require(spans.trees.first)
        let decode = "decode(queueWait, queueWait, read, queueWait)"
        #expect(tree.contains("download, \(decode), queueWait, process[brighten(1)]"))
        #expect(tree.contains("diskStore(queueWait, encode, write)"))

        memory.removeAll()
        _ = try await pipeline.load(request)
        await pipeline.shutDown()

        spans.expectBalance()
        #expect(spans.trees.last == "load(memoryLookup?evicted, diskLookup(queueWait), \(decode))")
    }

    @Test(arguments: [false, true])
    func `the change of a request by its modifier is a step before the others`(fails: Bool) async throws {
        struct NoToken: Error {}
        let stack = stack(FakeDownloader(giving: level(7)))
        let request = try web("a") {
            $0.modifyRequest = { request in
                if fails { throw NoToken() }
                request.fields["A"] = "1"
            }
        }
        _ = try? await stack.load(request)
        await stack.pipeline.shutDown()

        spans.expectBalance()
        let beginning = fails ? "load!(resolve!)" : "load(resolve, memoryLookup?notStored, "
        #expect(try #require(spans.trees.first).hasPrefix(beginning))
    }

    @Test func `a load of bytes is a call of its own`() async throws {
        let stack = stack(FakeDownloader(giving: level(7)))
        _ = try await stack.pipeline.data(for: try web("a"))
        await stack.pipeline.shutDown()

        spans.expectBalance()
        #expect(
            spans.trees == ["data(diskLookup?notStored(queueWait), download, queueWait, diskStore(queueWait))"])
    }

    @Test func `the steps of the downloader and of its response cache are in the download`() async throws {
        let transport = FakeTransport { [clock] request in
            let fields: HTTPFields = ["Cache-Control": "max-age=60", "Date": HTTPDate.format(clock.now)]
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: 200, fields: fields), body: HTTPBody(level(7)))
        }
        let caching = CachingTransport(wrapping: transport, cache: URLResponseCache(clock: clock))
        try await withPipeline(over: caching) { pipeline in
            for _ in 0..<2 { _ = try await pipeline.load(try web("a")) }
            clock.advance(by: .seconds(61))
            _ = try await pipeline.load(try web("a"))
        }

        spans.expectBalance()
        let trees = ["responseCache?notStored", "responseCache", "responseCache?expired"].map { lookup in
            let download = "download(queueWait, transfer(\(lookup)))"
            return "load(memoryLookup?noCache, diskLookup?noCache, \(download), decode(queueWait))"
        }
        #expect(spans.trees == trees)
        #expect(transport.requests.count == 2)
    }

    @Test func `each attempt of a download is a transfer, and the pause before it a wait`() async throws {
        let attempts = Watched(0)
        let transport = FakeTransport { request in
            let isFirst = attempts.update { count in
                count += 1
                return count == 1
            }
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: isFirst ? 503 : 200), body: HTTPBody(level(7)))
        }
        try await withPipeline(over: transport) { pipeline in
            let retry = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
            _ = try await pipeline.load(try web("a") { $0.retry = retry })
        }

        spans.expectBalance()
        let download = "download(queueWait, transfer!, queueWait[retry], transfer)"
        #expect(spans.trees == ["load(memoryLookup?noCache, diskLookup?noCache, \(download), decode(queueWait))"])
    }

    @Test func `parts of the app add steps of their own`() async throws {
        let stack = stack(
            FakeDownloader { [clock] _, _ in
                try await LoadSpan.run("sign", detail: "key 1") { try await clock.sleep(for: .zero) }
                return Download(data: level(7))
            })
        let processor = Held { LoadSpan.run("measure") {} }
        _ = try await stack.load(try web("a") { $0.processors = [processor] })
        await stack.pipeline.shutDown()

        spans.expectBalance()
        let tree = try #require(spans.trees.first)
        #expect(tree.contains("download(sign[key 1])"))
        #expect(tree.contains("process[held](measure)"))
    }

    @Test func `the times of spans are those of the pipeline's clock`() async throws {
        let stack = stack(
            FakeDownloader { [clock] _, _ in
                clock.advance(by: .seconds(1))
                return Download(data: level(7))
            })
        clock.advance(by: .seconds(5))
        _ = try await stack.load(try web("a"))
        await stack.pipeline.shutDown()

        for (name, start, duration) in [(LoadSpan.Name.load, 5, 1), (.download, 5, 1), (.decode, 6, 0)] {
            let span = try #require(spans.ended.first { $0.name == name })
            #expect(span.start == .seconds(start))
            #expect(span.duration == .seconds(duration))
        }
    }

    @Test func `a pipeline without tracers makes no spans`() async throws {
        let isTraced = Watched<[Bool]>([])
        let stack = Stack(
            FakeDownloader { _, _ in
                isTraced.update { $0.append(ActiveSpan.current != nil) }
                return Download(data: level(7))
            })
        let processor = Held { isTraced.update { $0.append(ActiveSpan.current != nil) } }
        _ = try await stack.load(try web("a") { $0.processors = [processor] })
        #expect(isTraced.value == [false, false])
    }

    // MARK: Failure

    @Test(arguments: [
        ("download", "download!"), ("decode", "download, decode!(queueWait)"),
        ("process", "download, decode(queueWait), queueWait, process[brighten(1)]!"),
    ])
    func `a step that fails ends with its load`(stage: String, steps: String) async throws {
        let stack = stack(
            FakeDownloader { _, _ in
                if stage == "download" { throw HTTPTransportError(.offline, "no network in this test") }
                return Download(data: stage == "decode" ? Data("fail:corrupt".utf8) : level(7))
            })
        let error = ImageProcessingError(.unsupportedFormat, "as told")
        let processor = Brighten(step: 1, error: stage == "process" ? error : nil)
        _ = try await stack.failure(try web("a") { $0.processors = [processor] })
        await stack.pipeline.shutDown()

        spans.expectBalance()
        #expect(spans.trees == ["load!(memoryLookup?notStored, diskLookup?notStored(queueWait), \(steps))"])
    }

    @Test func `a failure of an asynchronous decoder is that of its decode`() async throws {
        let stack = stack(FakeDownloader(giving: level(7)))
        let service = TracedService(error: ImageDecodingError(.unsupportedVariant, "as told"))
        _ = try await stack.failure(try web("a") { $0.codecs = service.registry })
        await stack.pipeline.shutDown()

        spans.expectBalance()
        #expect(try #require(spans.trees.first).hasSuffix(", download, decode!(queueWait, queueWait, read!))"))
    }

    @Test(arguments: [false, true])
    func `a processor that takes the rows of the decoder is a step of the decode`(fails: Bool) async throws {
        let stack = stack(FakeDownloader(giving: level(7)))
        let processor = Fused(error: fails ? ImageProcessingError(.tooLarge, "as told") : nil)
        _ = try? await stack.load(try web("a") { $0.processors = [processor] })
        await stack.pipeline.shutDown()

        spans.expectBalance()
        let decode = fails ? "decode!(queueWait, process[fused]!)" : "decode(queueWait, process[fused])"
        #expect(try #require(spans.trees.first).contains(", download, \(decode)"))
    }

    @Test func `a failed write to disk ends its step and not the load`() async throws {
        let disk = FakeDataCache(beforeStore: { _ in throw PipelineError(.notStored, "as told") })
        let stack = stack(FakeDownloader(giving: level(7)), disk: disk)
        _ = try await stack.load(try web("a"))
        await stack.pipeline.shutDown()

        spans.expectBalance()
        let tree = try #require(spans.trees.first)
        #expect(tree.hasPrefix("load("))
        #expect(tree.hasSuffix("diskStore!(queueWait))"))
    }

    // MARK: Cancellation and shared work

    @Test func `a canceled load ends the steps in progress as canceled`() async throws {
        let stack = stack(waiting, executor: executor)
        let task = stack.start(try web("a"))
        executor.drain()
        #expect(clock.sleeperCount == 1)

        task.cancel()
        executor.drain()
        await #expect(throws: CancellationError.self) { try await task.value }
        await executor.drain { await stack.pipeline.shutDown() }

        spans.expectBalance()
        #expect(spans.trees == ["load~(memoryLookup?notStored, diskLookup?notStored(queueWait), download~)"])
    }

    @Test func `a download that is canceled in the queue ends its wait`() async throws {
        let transport = FakeTransport { [clock] request in
            try await clock.sleep(for: .seconds(1))
            return HTTPResponse(head: HTTPResponseHead(url: request.url, status: 200), body: HTTPBody(level(7)))
        }
        let requests = [try web("a"), try web("b")]
        try await withPipeline(over: transport, maxConcurrentDownloads: 1) { pipeline in
            let first = Task.immediate { try await pipeline.load(requests[0]) }
            try await clock.waitForSleepers(count: 1)
            let second = Task.immediate { try await pipeline.load(requests[1]) }

            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            clock.advance(by: .seconds(1))
            _ = try await first.value
        }

        spans.expectBalance()
        #expect(spans.trees.last == "load~(memoryLookup?noCache, diskLookup?noCache, download~(queueWait~))")
    }

    @Test func `callers that share a load have spans of their own, and its steps belong to the first`() async throws {
        let stack = stack(waiting)
        let request = try web("a")
        let tasks = (0..<3).map { _ in Task.immediate { try await stack.load(request) } }
        try await clock.waitForSleepers(count: 1)
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        clock.advance(by: .seconds(1))
        for task in tasks[1...] { #expect(try await task.value.image.level == 7) }
        await stack.pipeline.shutDown()

        spans.expectBalance()
        let steps = "diskLookup?notStored(queueWait), download, decode(queueWait), diskStore(queueWait)"
        let others = [String](repeating: "load(memoryLookup?notStored)", count: 2)
        #expect(spans.trees == ["load~(memoryLookup?notStored, \(steps))"] + others)
    }

    @Test func `work that is tried again for another caller belongs to that caller`() async throws {
        let stack = stack(
            FakeDownloader { [clock] request, _ in
                try await clock.sleep(for: .seconds(1))
                guard case .http(let http) = request.source, http.url.path == "/b" else {
                    throw HTTPTransportError(.offline, "as told")
                }
                return Download(data: level(7))
            })
        let tasks = try ["a", "b"].map { name in
            let request = try web(name) { $0.resource = ResourceKey("shared") }
            return Task.immediate { try await stack.load(request) }
        }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        await #expect(throws: PipelineError.self) { try await tasks[0].value }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        #expect(try await tasks[1].value.image.level == 7)
        await stack.pipeline.shutDown()

        spans.expectBalance()
        let lookups = "memoryLookup?notStored, diskLookup?notStored(queueWait)"
        #expect(
            spans.trees == [
                "load!(\(lookups), download!)",
                "load(\(lookups), download, decode(queueWait), diskStore(queueWait))",
            ])
    }

    @Test func `with random joins and cancellations every span ends once`() async throws {
        let isOpen = Watched(false)
        let stack = stack(
            FakeDownloader { request, _ in
                // The first downloads wait until every request has been made.
                try await isOpen.waitUntil { $0 }
                try Task.checkCancellation()
                guard case .http(let http) = request.source, let number = Int(http.url.path.dropFirst()) else {
                    throw HTTPTransportError(.offline, "as told")
                }
                return Download(data: number == 3 ? Data("fail:corrupt".utf8) : level(number))
            })
        let tasks = try (0..<600).map { number in
            let request = try web("\(number % 5)") {
                $0.processors = number % 3 == 0 ? [Brighten(step: 100)] : []
                if number % 2 == 0 { $0.cachePolicy = .reload }
                if number % 7 == 0 { $0.dataCachePolicy = .both }
            }
            let task = Task { try await stack.load(request).image.level }
            if number % 4 == 0 { task.cancel() }
            return task
        }
        isOpen.update { $0 = true }
        for task in tasks { _ = await task.result }
        await stack.pipeline.shutDown()

        spans.expectBalance()
        #expect(spans.ended.filter { $0.name == .load }.count == 600)
    }

    // MARK: Previews

    @Test(arguments: [false, true])
    func `previews are steps of their load, also when it fails`(fails: Bool) async throws {
        let entry = CodecRegistry.Entry(format: ImageFormat(rawValue: "last"), decoder: LastByteCodec()) { _ in true }
        let downloader = FakeDownloader { [executor] request, _ in
            for (offset, byte) in ([16, 32] as [UInt8]).enumerated() {
                request.onBytes?(offset, Data([byte]))
                executor.drain()
            }
            if fails { throw HTTPTransportError(.offline, "as told") }
            return Download(data: Data([16, 32]))
        }
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: CodecRegistry([entry]), tracers: [spans], clock: clock,
                previewInterval: .zero, taskExecutor: executor))
        let task = pipeline.imageTask(with: try web("a") { $0.deliversPreviews = true })
        executor.drain()
        _ = try? await task.response
        await executor.drain { await pipeline.shutDown() }

        spans.expectBalance()
        let previews = spans.ended.filter { $0.name == .preview }
        #expect(previews.count == 2)
        #expect(Set(previews.map(\.root)) == Set(spans.ended.filter { $0.name == .load }.map(\.id)))
    }
}
