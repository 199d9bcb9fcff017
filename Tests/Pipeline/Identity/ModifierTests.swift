import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Modifiers decide whose image a request is, unless an identifier names what they select.
@Suite(.timeLimit(.minutes(10)))
struct ModifierTests {
    /// The user whose token the modifiers add.
    private let user = Watched("1")
    private let calls = Watched(0)

    /// A server whose image is the number in `Authorization`.
    private var transport: FakeTransport {
        FakeTransport { request in
            HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: 200),
                body: HTTPBody(Data("level:\(request.fields["Authorization"] ?? "0")".utf8)))
        }
    }

    /// The owner of a modifier.
    enum Owner: CaseIterable { case request, downloader }

    private struct Setup {
        let pipeline: ImagePipeline
        let transport: FakeTransport
        let request: ImageRequest
    }

    private func setup(
        _ owner: Owner, memory: DictionaryMemoryCache = DictionaryMemoryCache(), disk: FakeDataCache = FakeDataCache(),
        _ change: (inout ImageRequest) -> Void = { _ in }
    ) throws -> Setup {
        let transport = transport
        var configuration = DownloaderConfiguration()
        var request = try web("a", change)
        switch owner {
        case .request:
            request.modifyRequest = { [user, calls] http in
                calls.update { $0 += 1 }
                http.fields["Authorization"] = user.value
            }
        case .downloader:
            configuration.modifyRequest = { [user, calls] http in
                calls.update { $0 += 1 }
                var http = http
                http.fields["Authorization"] = user.value
                return http
            }
        }
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(transport: transport, configuration: configuration),
                codecs: FakeCodec().registry, memoryCache: memory, diskCache: disk))
        return Setup(pipeline: pipeline, transport: transport, request: request)
    }

    @Test(arguments: Owner.allCases)
    func `the image of one user is not shown to another, from memory, disk and the next process`(owner: Owner)
        async throws
    {
        let (memory, disk) = (DictionaryMemoryCache(), FakeDataCache())
        let first = try setup(owner, memory: memory, disk: disk)
        for name in ["1", "2", "1", "2"] {
            user.update { $0 = name }
            #expect(try await first.pipeline.load(first.request).image.level == UInt8(name))
            #expect(try await first.pipeline.data(for: first.request) == Data("level:\(name)".utf8))
        }
        #expect(first.transport.requests.count == 2)
        await first.pipeline.flush()

        let next = try setup(owner, memory: DictionaryMemoryCache(), disk: disk)
        for name in ["2", "1"] {
            user.update { $0 = name }
            let response = try await next.pipeline.load(next.request)
            #expect(response.image.level == UInt8(name))
            #expect(response.layer == .disk)
        }
        let shared = try setup(owner, memory: memory, disk: disk)
        user.update { $0 = "3" }
        #expect(try await shared.pipeline.load(shared.request).image.level == 3)
        user.update { $0 = "1" }
        #expect(try await shared.pipeline.load(shared.request).layer == .memory)
    }

    @Test(arguments: Owner.allCases)
    func `a lookup that cannot wait for a modifier finds nothing`(owner: Owner) async throws {
        let setup = try setup(owner)
        _ = try await setup.pipeline.load(setup.request)

        #expect(setup.pipeline.cachedImage(for: setup.request) == nil)
        #expect(setup.pipeline.cache[setup.request] == nil)
        setup.pipeline.cache[setup.request] = .gray(side: 1, level: 9)
        #expect(try await setup.pipeline.load(setup.request).image.level == 1)
        // A lookup that waits finds it.
        #expect(await setup.pipeline.cache.contains(setup.request).contains(.memory))
        user.update { $0 = "2" }
        #expect(await setup.pipeline.cache.contains(setup.request) == [])
    }

    @Test(arguments: Owner.allCases)
    func `with an identifier the caches stay warm while the token changes`(owner: Owner) async throws {
        let disk = FakeDataCache()
        let first = try setup(owner, disk: disk) { $0.additionalIdentifier = "account 1" }
        #expect(try await first.pipeline.load(first.request).image.level == 1)
        user.update { $0 = "7" }
        #expect(first.pipeline.cachedImage(for: first.request)?.level == 1)
        #expect(try await first.pipeline.load(first.request).layer == .memory)
        await first.pipeline.flush()
        let next = try setup(owner, disk: disk) { $0.additionalIdentifier = "account 1" }
        #expect(try await next.pipeline.load(next.request).layer == .disk)
        #expect(calls.value == 1)

        // The original of another account is not that of the first.
        let other = try setup(owner, disk: disk) {
            $0.additionalIdentifier = "account 2"
            $0.processors = [Brighten(step: 1)]
        }
        #expect(try await other.pipeline.load(other.request).image.level == 8)
        #expect(calls.value == 2)
    }

    @Test(arguments: Owner.allCases)
    func `a modifier is called once for each load, and its request is sent once`(owner: Owner) async throws {
        let setup = try setup(owner)
        _ = try await setup.pipeline.load(setup.request)
        #expect(calls.value == 1)
        #expect(setup.transport.requests.count == 1)
        _ = try await setup.pipeline.load(setup.request)
        #expect(calls.value == 2)
        #expect(setup.transport.requests.count == 1)
        let prefetcher = ImagePrefetcher(pipeline: setup.pipeline, destination: .disk)
        user.update { $0 = "2" }
        prefetcher.start([setup.request])
        _ = try await prefetcher.report()
        #expect(calls.value == 3)
        #expect(setup.transport.requests.count == 2)
    }

    @Test func `requests with equal identifiers share a download, and a failed modifier fails its own request`()
        async throws
    {
        struct NoToken: Error {}
        let clock = ManualClock()
        let stack = Stack(
            FakeDownloader { _, _ in
                try await clock.sleep(for: .seconds(1))
                return Download(data: level(7))
            })
        func request(_ modify: @escaping @Sendable () async throws -> Void) throws -> ImageRequest {
            try web("a") {
                $0.additionalIdentifier = "account"
                $0.modifyRequest = { _ in try await modify() }
            }
        }
        let requests = [
            try request {
                try await clock.sleep(for: .seconds(1))
                throw NoToken()
            }, try request {}, try request {},
        ]
        let tasks = requests.map { request in Task.immediate { try await stack.load(request).image.level } }
        for _ in 0..<2 {
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(1))
        }
        let error = await #expect(throws: PipelineError.self) { try await tasks[0].value }
        #expect(error?.cause is NoToken)
        for task in tasks.dropFirst() { #expect(try await task.value == 7) }
        #expect(stack.downloader.count == 1)
    }

    @Test func `a modifier that the downloader declines fails the load`() async throws {
        var configuration = DownloaderConfiguration()
        configuration.modifyRequest = { _ in nil }
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(transport: transport, configuration: configuration),
                codecs: FakeCodec().registry))
        let error = try #require(
            await #expect(throws: PipelineError.self) { try await pipeline.load(try web("a")) })
        #expect(error.code == .download)
        #expect((error.cause as? DownloadError)?.code == .declined)
    }

    // MARK: Default credentials

    @Test(arguments: ["Authorization", "Cookie"])
    func `default credentials of a downloader tell users apart in all caches`(name: String) async throws {
        let (memory, disk) = (DictionaryMemoryCache(), FakeDataCache())
        let transport = FakeTransport { request in
            HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: 200),
                body: HTTPBody(Data("level:\(request.fields[name] ?? "0")".utf8)))
        }
        let request = try web("a")
        for user in [1, 2, 1] {
            var configuration = DownloaderConfiguration()
            configuration.defaultFields[name] = "\(user)"
            let pipeline = ImagePipeline(
                ImagePipeline.Configuration(
                    downloader: Downloader(transport: transport, configuration: configuration),
                    codecs: FakeCodec().registry, memoryCache: memory, diskCache: disk))
            #expect(try await Int(pipeline.load(request).image.level) == user)
            #expect(pipeline.cachedImage(for: request).map { Int($0.level) } == user)
            #expect(try await pipeline.data(for: request) == level(user))
            await pipeline.flush()
        }
        #expect(memory.count == 2)
        #expect(transport.requests.count == 2)
    }

    @Test func `a modifier with an identifier sees the request without default credentials`() async throws {
        let transport = transport
        var configuration = DownloaderConfiguration()
        configuration.defaultFields["Authorization"] = "1"
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(transport: transport, configuration: configuration),
                codecs: FakeCodec().registry))
        let request = try web("a") {
            $0.additionalIdentifier = "bob"
            $0.modifyRequest = { if $0.fields["Authorization"] == nil { $0.fields["Authorization"] = "2" } }
        }
        #expect(try await pipeline.load(request).image.level == 2)
        #expect(try await pipeline.load(try web("a")).image.level == 1)
    }

    @Test func `an equal further attempt with default credentials is kept`() async throws {
        let (memory, isFirst) = (DictionaryMemoryCache(), Watched(true))
        let transport = FakeTransport { request in
            let isFirst = isFirst.update { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: isFirst ? 503 : 200),
                body: HTTPBody(Data("level:7".utf8)))
        }
        var configuration = DownloaderConfiguration()
        configuration.defaultFields["Authorization"] = "1"
        configuration.retry = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(transport: transport, configuration: configuration),
                codecs: FakeCodec().registry, memoryCache: memory))
        let request = try web("a") { $0.modifyRequest = { $0.fields["X-Token"] = "1" } }
        #expect(try await pipeline.load(request).image.level == 7)
        #expect(memory.count == 1)
        #expect(transport.requests.count == 2)
    }

    // MARK: Further attempts

    /// Loads whose first attempts fail when all have joined. Their modifiers then find that the token has expired.
    private struct Renewals {
        let clock = ManualClock()
        let executor = ManualExecutor()
        let isExpired = Watched(false)

        /// A stack whose further attempts are answered by a closure.
        func stack(
            _ respond: @escaping @Sendable (DownloadRequest, HTTPRequest) throws -> Download
        ) -> Stack {
            Stack(
                FakeDownloader { [clock, isExpired] request, _ in
                    request.onBytes?(0, Data([5]))
                    try await clock.sleep(for: .seconds(1))
                    isExpired.update { $0 = true }
                    guard let http = try await request.renewal?() else { throw CancellationError() }
                    return try respond(request, http)
                }, executor: executor)
        }

        /// Ends the shared attempts, and those that follow them.
        func end() {
            for _ in 0..<2 {
                clock.advance(by: .seconds(1))
                executor.drain()
            }
        }
    }

    @Test(arguments: [nil, "X-Token"], [false, true])
    func `a further attempt is only for the requests whose modifier has made it, unless its response is for all`(
        vary: String?, isSameImage: Bool
    ) async throws {
        let renewals = Renewals()
        let stack = renewals.stack { _, http in
            let fields: HTTPFields = vary.map { ["Vary": $0] } ?? [:]
            return Download(
                data: level(http.fields["X-Token"].flatMap { Int($0) } ?? 0),
                head: HTTPResponseHead(url: http.url, status: 200, fields: fields))
        }
        func request(of user: Int) throws -> ImageRequest {
            try web("a") { $0.modifyRequest = { $0.fields["X-Token"] = renewals.isExpired.value ? "\(user)" : "old" } }
        }
        let alice = try request(of: 1)
        var bob = try request(of: 2)
        if !isSameImage { bob.processors = [Brighten(step: 10)] }
        let tasks = [alice, bob, alice].map { stack.start($0) }
        renewals.executor.drain()
        #expect(stack.downloader.count == 1)

        renewals.end()

        let step = isSameImage ? 0 : 10
        let levels = vary == nil ? [1, 1 + step, 1] : [1, 2 + step, 1]
        for (task, expected) in zip(tasks, levels) { #expect(try await Int(task.value.image.level) == expected) }
        #expect(stack.downloader.count == (vary == nil ? 1 : 2))
    }

    @Test(arguments: [false, true])
    func `a further attempt that fails for one user fails for no other`(failsInModifier: Bool) async throws {
        let renewals = Renewals()
        let stack = renewals.stack { _, http in
            guard http.fields["X-Token"] != "1" else { throw DownloadError(.status(403), "revoked") }
            return Download(data: level(2))
        }
        let tasks = try ["1", "2"].map { (user: String) in
            stack.start(
                try web("a") {
                    $0.modifyRequest = { http in
                        let isExpired = renewals.isExpired.value
                        if failsInModifier, isExpired, user == "1" { throw HTTPTransportError(.failed, "no token") }
                        http.fields["X-Token"] = isExpired ? user : "old"
                    }
                })
        }
        renewals.executor.drain()
        #expect(stack.downloader.count == 1)

        renewals.end()

        await #expect(throws: PipelineError.self) { try await tasks[0].value }
        #expect(try await tasks[1].value.image.level == 2)
    }

    @Test func `bytes of a further attempt for one user give no previews to others`() async throws {
        let renewals = Renewals()
        let stack = renewals.stack { request, http in
            let bytes = Data([http.fields["Authorization"] == "alice" ? 1 : 2])
            request.onBytes?(0, bytes)
            return Download(data: bytes)
        }
        let seen = Watched<[UInt8]>([])
        let tasks = try ["alice", "bob"].map { (user: String) in
            let request = try web("a") {
                $0.codecs = CodecRegistry([
                    CodecRegistry.Entry(format: ImageFormat(rawValue: "last"), decoder: LastByteCodec()) { _ in true }
                ])
                $0.deliversPreviews = true
                $0.modifyRequest = { $0.fields["Authorization"] = renewals.isExpired.value ? user : "old" }
            }
            return Task(executorPreference: renewals.executor) {
                try await stack.pipeline.load(request, priority: PriorityHandle()) { update in
                    if case .preview(let preview) = update { seen.update { $0.append(preview.image.level) } }
                }.image.level
            }
        }
        renewals.executor.drain()

        renewals.end()

        for (task, expected) in zip(tasks, [1, 2]) { #expect(try await Int(task.value) == expected) }
        // The bytes of the first attempts give previews.
        #expect(Set(seen.value) == [5])
    }

    @Test(arguments: [false, true])
    func `a part that a modifier asks for is not the whole of an equal identifier`(isPartFirst: Bool) async throws {
        let (clock, executor) = (ManualClock(), ManualExecutor())
        let stack = Stack(
            FakeDownloader { request, _ in
                try await clock.sleep(for: .seconds(1))
                guard case .http(let http) = request.source else { throw CancellationError() }
                return Download(data: level(http.fields["Range"] == nil ? 9 : 1))
            }, executor: executor)
        let whole = try web("a") { $0.additionalIdentifier = "account" }
        var part = whole
        part.modifyRequest = { $0.fields["Range"] = "bytes=0-999" }
        let tasks = (isPartFirst ? [part, whole] : [whole, part]).map { stack.start($0) }
        executor.drain()
        #expect(stack.downloader.count == 1)
        for _ in 0..<2 {
            clock.advance(by: .seconds(1))
            executor.drain()
        }

        // The whole stands for a part that only a modifier asks for.
        for (task, expected) in zip(tasks, isPartFirst ? [1, 9] : [9, 9]) {
            #expect(try await Int(task.value.image.level) == expected)
        }
        await stack.pipeline.flush()
        #expect(stack.pipeline.cachedImage(for: whole)?.level == 9)
        #expect(stack.stored(whole) == level(9))
    }

    // MARK: Ranges

    @Test func `a part is never the whole: in flight, in memory, on disk and as a decoded image`() async throws {
        let clock = ManualClock()
        let stack = Stack(
            FakeDownloader { request, _ in
                try await clock.sleep(for: .seconds(1))
                guard case .http(let http) = request.source else { throw CancellationError() }
                return Download(data: level(http.fields["Range"] == nil ? 9 : 1))
            })
        let whole = try web("a")
        let url = try #require(whole.url)
        func part(_ change: (inout ImageRequest) -> Void = { _ in }) -> ImageRequest {
            var request = ImageRequest(source: .http(HTTPRequest(url: url, fields: ["Range": "bytes=0-999"])))
            change(&request)
            return request
        }
        // With an identifier, the range is added for the download.
        let late = try web("a") {
            $0.additionalIdentifier = "account"
            $0.modifyRequest = { $0.fields["Range"] = "bytes=0-999" }
        }
        let requests = [whole, part(), part { $0.resource = ResourceKey(url) }, late]
        for _ in 0..<2 {
            let tasks = requests.map { request in Task.immediate { try await stack.load(request).image.level } }
            try await clock.waitForSleepers(count: stack.downloader.count == 0 ? 4 : 3)
            clock.advance(by: .seconds(1))
            for (index, task) in tasks.enumerated() { #expect(try await task.value == (index == 0 ? 9 : 1)) }
        }
        await stack.pipeline.flush()
        #expect(stack.memory.count == 1)
        #expect(stack.disk.entries.value.count == 1)
        #expect(stack.stored(whole) == level(9))
    }
}
