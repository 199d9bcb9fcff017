import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import AlcedoURLResponseCache
import Dispatch
import FoundationEssentials
import TestSupport
import Testing

/// Responses that vary by fields of the request are used for requests with equal values only.
@Suite(.timeLimit(.minutes(10)))
struct VaryTests {
    private let clock = ManualClock()

    /// A server whose image is the value of X-Token, and that names the fields of a closure in `Vary`.
    private func server(_ names: @escaping @Sendable () -> String?) -> FakeDownloader {
        FakeDownloader { request, _ in
            guard case .http(let http) = request.source else { throw CancellationError() }
            let fields: HTTPFields = names().map { ["Vary": $0] } ?? [:]
            let number = http.fields["X-Token"].flatMap { Int($0) } ?? 0
            return Download(
                data: level(number),
                response: HTTPResponse(
                    head: HTTPResponseHead(url: http.url, status: 200, fields: fields), body: HTTPBody(Data())))
        }
    }

    private func request(
        _ token: String?, _ change: (inout ImageRequest) -> Void = { _ in }
    ) throws -> ImageRequest {
        let url = try #require(URL(string: "http://127.0.0.1/a"))
        var request = ImageRequest(source: .http(HTTPRequest(url: url)))
        if let token { request.source = .http(HTTPRequest(url: url, fields: ["X-Token": token])) }
        change(&request)
        return request
    }

    /// A pipeline like that of a stack, on the same caches.
    private func other(_ stack: Stack, sharesMemory: Bool, _ downloader: FakeDownloader? = nil) -> ImagePipeline {
        ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader ?? stack.downloader, codecs: FakeCodec().registry,
                memoryCache: sharesMemory ? stack.memory : DictionaryMemoryCache(), diskCache: stack.disk))
    }

    private func level(_ token: String?, from pipeline: ImagePipeline) async throws -> UInt8 {
        try await pipeline.load(request(token)).image.level
    }

    private func level(_ number: Int) -> Data { Data("level:\(number)".utf8) }

    @Test(arguments: ["X-Token", "x-token", "Accept-Encoding, X-TOKEN", "DPR,X-Token"])
    func `a request with another value gets its own image, from memory, disk and the next process`(vary: String)
        async throws
    {
        let stack = Stack(server { vary })
        for token in ["1", "2", nil, "1", "2"] {
            #expect(try await level(token, from: stack.pipeline) == UInt8(token ?? "0"))
        }
        #expect(stack.downloader.count == 3)
        #expect(stack.pipeline.cachedImage(for: try request("2"))?.level == 2)
        #expect(stack.pipeline.cachedImage(for: try request("3")) == nil)
        await stack.pipeline.flush()

        stack.memory.removeAll()
        for token in ["2", "1", nil] {
            let response = try await stack.load(try request(token))
            #expect(response.image.level == UInt8(token ?? "0"))
            #expect(response.layer == .disk)
        }
        let next = other(stack, sharesMemory: false)
        for token in ["2", "1", nil] {
            let response = try await next.load(try request(token))
            #expect(response.image.level == UInt8(token ?? "0"))
            #expect(response.layer == .disk)
        }
        #expect(try await level("4", from: next) == 4)
        #expect(stack.downloader.count == 4)
    }

    @Test(arguments: ["private, max-age=600", "no-store", "max-age=600, No-Store"])
    func `a response for one user that names no field is for requests with equal ones`(control: String) async throws {
        let stack = Stack(
            FakeDownloader { request, _ in
                guard case .http(let http) = request.source else { throw CancellationError() }
                let head = HTTPResponseHead(url: http.url, status: 200, fields: ["Cache-Control": control])
                let number = Int(http.fields["X-Token"] ?? "0") ?? 0
                return Download(data: level(number), response: HTTPResponse(head: head, body: HTTPBody(Data())))
            })
        for token in [nil, "1", "2", nil, "2"] {
            #expect(try await level(token, from: stack.pipeline) == UInt8(token ?? "0"))
        }
        #expect(stack.downloader.count == 3)
        await stack.pipeline.flush()
        let next = other(stack, sharesMemory: false)
        for token in ["2", "1", nil] { #expect(try await level(token, from: next) == UInt8(token ?? "0")) }
    }

    /// The server tells users apart by a token, and does not say so.
    @Test(arguments: [nil, "private, max-age=600", "no-store"], [true, false])
    func `a stored response is for one account, and a private one for one token`(control: String?, isNamed: Bool)
        async throws
    {
        let transport = FakeTransport { request in
            let fields: HTTPFields = ["Cache-Control": control ?? "max-age=600", "ETag": "\"a\""]
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: 200, fields: fields),
                body: HTTPBody(level(Int(request.fields["X-Token"] ?? "0") ?? 0)))
        }
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(transport: CachingTransport(wrapping: transport, cache: URLResponseCache())),
                codecs: FakeCodec().registry))
        // Only the identifier, or only HTTP's private, says that the token matters.
        let tokens = control == nil ? ["1", "2", "1"] : [nil, "1", nil, "2", "1"]
        for token in tokens where isNamed || control != nil {
            let request = try request(isNamed ? nil : token) {
                guard isNamed, let token else { return }
                $0.modifyRequest = { $0.fields["X-Token"] = token }
                $0.additionalIdentifier = "account \(token)"
            }
            #expect(try await pipeline.load(request).image.level == UInt8(token ?? "0"))
            #expect(try await pipeline.data(for: request) == level(token.flatMap { Int($0) } ?? 0))
        }
        // The first response was stored for all requests, and is loaded again when there are others.
        let first = control == nil ? 0 : 1
        if control != "no-store", isNamed || control != nil {
            #expect(transport.requests.count == Set(tokens).count + first)
        }
    }

    @Test func `a redirect for one user leads to an image for that user`() async throws {
        let transport = FakeTransport { request in
            let token = request.fields["X-Token"] ?? "0"
            guard request.url.path == "/a" else {
                let head = HTTPResponseHead(url: request.url, status: 200, fields: ["Cache-Control": "public"])
                return HTTPResponse(head: head, body: HTTPBody(level(Int(request.url.lastPathComponent) ?? 0)))
            }
            let fields: HTTPFields = ["Location": "/avatars/\(token)", "Cache-Control": "private"]
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: 302, fields: fields), body: HTTPBody(Data()))
        }
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(transport: transport), codecs: FakeCodec().registry,
                memoryCache: DictionaryMemoryCache()))
        for token in ["1", "2", nil, "1"] { #expect(try await level(token, from: pipeline) == UInt8(token ?? "0")) }
        #expect(transport.requests.count == 6)
    }

    /// A part of the app that adds the token of the user, who is not seen before.
    enum Adder: CaseIterable { case redirectHook, alternative }

    @Test(arguments: Adder.allCases)
    func `a private image for a token that is added on the way is for one load`(adder: Adder) async throws {
        let user = Watched("1")
        let transport = FakeTransport { request in
            let isFirst = request.url.path == "/a"
            let status = isFirst ? (adder == .redirectHook ? 302 : 404) : 200
            let fields: HTTPFields = isFirst ? ["Location": "/b"] : ["Cache-Control": "private, max-age=600"]
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: status, fields: fields),
                body: HTTPBody(level(Int(request.fields["X-Token"] ?? "0") ?? 0)))
        }
        var configuration = DownloaderConfiguration()
        configuration.redirectHook = { _, next in
            var next = next
            next.fields["X-Token"] = user.value
            return next
        }
        if adder == .alternative {
            configuration.alternatives = { request in
                [HTTPRequest(url: request.url.appending(path: "b"), fields: ["X-Token": user.value])]
            }
        }
        let pipeline = ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(
                    transport: CachingTransport(wrapping: transport, cache: URLResponseCache()),
                    configuration: configuration),
                codecs: FakeCodec().registry, memoryCache: DictionaryMemoryCache(), diskCache: FakeDataCache()))
        for name in ["1", "2", "1"] {
            user.update { $0 = name }
            #expect(try await level(nil, from: pipeline) == UInt8(name))
        }
    }

    @Test func `an alternative is for requests like the one that needed it`() async throws {
        // Alice may not see the image, and sees another one. The mirror of each user is another one.
        let transport = FakeTransport { request in
            let user = request.fields["X-Token"] ?? ""
            let isServed = request.url.path != "/a" || user == "3"
            let fields: HTTPFields = request.url.path == "/a" ? ["Vary": "X-Token"] : [:]
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: isServed ? 200 : 403, fields: fields),
                body: HTTPBody(level(request.url.path == "/a" ? 3 : Int(request.url.lastPathComponent) ?? 0)))
        }
        var configuration = DownloaderConfiguration()
        configuration.alternatives = { request in
            [HTTPRequest(url: request.url.appending(path: request.fields["X-Token"] ?? "0"))]
        }
        let disk = FakeDataCache()
        func pipeline() -> ImagePipeline {
            ImagePipeline(
                ImagePipeline.Configuration(
                    downloader: Downloader(transport: transport, configuration: configuration),
                    codecs: FakeCodec().registry, memoryCache: DictionaryMemoryCache(), diskCache: disk))
        }
        let first = pipeline()
        for token in ["1", "2", "3", "1", "2"] { #expect(try await level(token, from: first) == UInt8(token)) }
        await first.flush()
        let next = pipeline()
        for token in ["3", "2", "1"] { #expect(try await level(token, from: next) == UInt8(token)) }
    }

    @Test func `requests with other values do not share a load before the response is known`() async throws {
        let stack = Stack(
            FakeDownloader { [clock] request, _ in
                try await clock.sleep(for: .seconds(1))
                guard case .http(let http) = request.source else { throw CancellationError() }
                return Download(data: level(Int(http.fields["X-Token"] ?? "0") ?? 0))
            })
        let tokens = ["1", "2", "1", "2"]
        let tasks = try tasks(tokens, stack)
        try await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(1))
        for (token, task) in zip(tokens, tasks) { #expect(try await task.value == UInt8(token)) }
        #expect(stack.downloader.count == 2)
    }

    /// Starts loads, each of which has joined when this returns. Every other one has a processor that changes nothing.
    private func tasks(_ tokens: [String], _ stack: Stack) throws -> [Task<UInt8, any Error>] {
        try tokens.enumerated().map { index, token in
            let request = try request(token) { $0.processors = index % 2 == 0 ? [] : [Untouched()] }
            return Task.immediate { try await stack.load(request).image.level }
        }
    }

    @Test func `two pipelines on one memory cache keep requests apart`() async throws {
        let stack = Stack(server { "X-Token" })
        let second = other(stack, sharesMemory: true)
        #expect(try await level("1", from: stack.pipeline) == 1)
        #expect(try await level("2", from: second) == 2)
        #expect(try await level("3", from: stack.pipeline) == 3)
        #expect(try await level("1", from: second) == 1)
        #expect(second.cachedImage(for: try request("3"))?.level == 3)
        #expect(second.cachedImage(for: try request("4")) == nil)
    }

    @Test func `a response without the field is used for every value, until one names it`() async throws {
        let vary = Watched<String?>(nil)
        let stack = Stack(server { vary.value })
        #expect(try await level("1", from: stack.pipeline) == 1)
        // The server has said that X-Token does not matter.
        #expect(try await level("2", from: stack.pipeline) == 1)

        vary.update { $0 = "X-Token" }
        let reload = try request("2") { $0.cachePolicy = .reload }
        #expect(try await stack.load(reload).image.level == 2)
        #expect(try await level("1", from: stack.pipeline) == 1)
        #expect(try await level("3", from: stack.pipeline) == 3)
        #expect(stack.downloader.count == 4)

        // Another name makes the stored images unusable.
        vary.update { $0 = "DPR" }
        #expect(try await stack.load(reload).image.level == 2)
        #expect(try await level("1", from: stack.pipeline) == 2)
        await stack.pipeline.flush()
        #expect(try await level("1", from: other(stack, sharesMemory: false)) == 2)

        vary.update { $0 = nil }
        #expect(try await stack.load(request("5") { $0.cachePolicy = .reload }).image.level == 5)
        #expect(try await level("1", from: stack.pipeline) == 5)
        await stack.pipeline.flush()
        #expect(try await level("1", from: other(stack, sharesMemory: false)) == 5)
    }

    @Test(arguments: ["*", "X-Token, *", (0...32).map { "F\($0)" }.joined(separator: ","), "no token"])
    func `a response that varies by everything is kept by no layer`(vary: String) async throws {
        let stack = Stack(server { vary })
        let request = try request("1") { $0.dataCachePolicy = .both }
        for _ in 0..<2 { #expect(try await stack.load(request).layer == .network) }
        #expect(try await stack.pipeline.data(for: request) == level(1))
        await stack.pipeline.flush()
        #expect(stack.memory.count == 0)
        #expect(stack.disk.entries.value.isEmpty)
        #expect(stack.pipeline.cachedImage(for: request) == nil)
        // Neither is the decoded image.
        _ = try await stack.load(try self.request("1") { $0.processors = [Brighten(step: 1)] })
        #expect(stack.downloader.count == 4)
    }

    @Test(arguments: DataCachePolicy.allCases)
    func `each policy of the disk cache keeps requests apart in the next process`(policy: DataCachePolicy) async throws
    {
        let stack = Stack(server { "X-Token" })
        func bright(_ token: String) throws -> ImageRequest {
            try request(token) {
                $0.processors = [Brighten(step: 100)]
                $0.dataCachePolicy = policy
            }
        }
        for token in ["1", "2"] { _ = try await stack.load(try bright(token)) }
        await stack.pipeline.flush()
        let next = other(stack, sharesMemory: false)
        for token in ["2", "1"] {
            let response = try await next.load(try bright(token))
            #expect(response.layer == .disk)
            #expect(response.image.level == 100 + UInt8(token)!)
        }
        #expect(try await next.load(try bright("3")).image.level == 103)
    }

    @Test(arguments: DataCachePolicy.allCases, [true, false])
    func `what was stored before the server began to vary is not found by the next process`(
        policy: DataCachePolicy, isSameProcess: Bool
    ) async throws {
        let vary = Watched<String?>(nil)
        let stack = Stack(server { vary.value })
        func bright(_ token: String) throws -> ImageRequest {
            try request(token) {
                $0.processors = [Brighten(step: 100)]
                $0.dataCachePolicy = policy
            }
        }
        #expect(try await stack.load(bright("1")).image.level == 101)
        await stack.pipeline.flush()
        vary.update { $0 = "X-Token" }
        let second = isSameProcess ? stack.pipeline : other(stack, sharesMemory: false)
        // A request for another image of the resource finds out that it varies.
        #expect(try await second.load(request("2") { $0.cachePolicy = .reload }).image.level == 2)
        #expect(try await second.load(bright("4")).image.level == 104)
        await second.flush()

        let next = other(stack, sharesMemory: false)
        for token in ["3", "2", "1"] {
            #expect(try await next.load(bright(token)).image.level == 100 + UInt8(token)!)
        }
        await next.flush()
        // A process that does not know the names yet keeps the images of other requests.
        let last = other(stack, sharesMemory: false)
        #expect(try await last.load(request("5") { $0.cachePolicy = .reload }).image.level == 5)
        for token in ["1", "4"] {
            let response = try await last.load(bright(token))
            #expect(response.image.level == 100 + UInt8(token)!)
            #expect(response.layer == .disk)
        }
    }

    @Test func `a load that began before the server began to vary stores nothing for the next process`()
        async throws
    {
        let vary = Watched<String?>(nil)
        let stack = Stack(server { vary.value })
        _ = try await stack.load(request("1"))
        await stack.pipeline.flush()
        let second = other(stack, sharesMemory: false)
        let (begun, end) = (Watched(false), DispatchSemaphore(value: 0))
        func held(_ token: String) throws -> ImageRequest {
            try request(token) {
                $0.processors = [
                    Held {
                        begun.update { $0 = true }
                        end.wait()
                    }
                ]
                $0.dataCachePolicy = .both
            }
        }
        let early = Task { try await second.load(held("1")) }
        try await begun.waitUntil { $0 }

        vary.update { $0 = "X-Token" }
        #expect(try await second.load(request("2") { $0.cachePolicy = .reload }).image.level == 2)
        end.signal()
        #expect(try await early.value.image.level == 1)
        // Nor does its response, which is older, end the variation.
        #expect(second.cachedImage(for: try request("2"))?.level == 2)
        await second.flush()

        let next = other(stack, sharesMemory: false)
        end.signal()
        #expect(try await next.load(held("3")).image.level == 3)
    }

    @Test(arguments: [DataCachePolicy.processed, .both])
    func `an image made of a processed image from disk belongs to the same requests`(policy: DataCachePolicy)
        async throws
    {
        let stack = Stack(server { "X-Token" })
        func bright(_ token: String, _ steps: [UInt8]) throws -> ImageRequest {
            try request(token) {
                $0.processors = steps.map { Brighten(step: $0) }
                $0.dataCachePolicy = policy
            }
        }
        _ = try await stack.load(bright("1", [100]))
        await stack.pipeline.flush()
        let second = other(stack, sharesMemory: false)
        #expect(try await second.load(bright("1", [100])).layer == .disk)

        #expect(try await second.load(bright("1", [100, 50])).image.level == 151)

        #expect(second.cachedImage(for: try bright("1", [100, 50]))?.level == 151)
        #expect(second.cachedImage(for: try bright("2", [100, 50])) == nil)
        await second.flush()
        let next = other(stack, sharesMemory: false)
        #expect(try await next.load(bright("2", [100, 50])).image.level == 152)
        #expect(try await next.load(bright("1", [100, 50])).image.level == 151)
    }

    @Test func `a process that ignores the disk removes what it says, before it stores for all`() async throws {
        let vary = Watched<String?>("X-Token")
        let stack = Stack(server { vary.value })
        func bright(_ token: String, _ policy: CachePolicy = CachePolicy()) throws -> ImageRequest {
            try request(token) {
                $0.processors = [Brighten(step: 100)]
                $0.dataCachePolicy = .processed
                $0.cachePolicy = policy
            }
        }
        _ = try await stack.load(bright("1"))
        await stack.pipeline.flush()
        vary.update { $0 = nil }
        let second = other(stack, sharesMemory: false)
        _ = try await second.load(bright("1", .reload))
        await second.flush()
        vary.update { $0 = "X-Token" }
        let third = other(stack, sharesMemory: false)
        _ = try await third.load(bright("2", .reload))
        await third.flush()

        let next = other(stack, sharesMemory: false)
        for token in ["3", "2", "1"] {
            #expect(try await next.load(bright(token)).image.level == 100 + UInt8(token)!)
        }
    }

    @Test func `images that are made at once of the first response that varies are all stored`() async throws {
        let stack = Stack(server { "X-Token" })
        func request(_ path: Int, _ step: UInt8) throws -> ImageRequest {
            let url = try #require(URL(string: "http://127.0.0.1/\(path)"))
            var request = ImageRequest(source: .http(HTTPRequest(url: url, fields: ["X-Token": "1"])))
            request.processors = [Brighten(step: step)]
            request.dataCachePolicy = .both
            return request
        }
        let paths = 0..<50
        for path in paths {
            async let first = stack.load(request(path, 10))
            async let second = stack.load(request(path, 20))
            async let third = stack.load(request(path, 30))
            #expect(try await (first.image.level, second.image.level, third.image.level) == (11, 21, 31))
        }
        await stack.pipeline.flush()

        let next = other(stack, sharesMemory: false)
        for path in paths {
            for step: UInt8 in [10, 20, 30] {
                let response = try await next.load(request(path, step))
                #expect(response.layer == .disk)
                #expect(response.image.level == 1 + step)
            }
        }
        // A load that begins while another one learns that the resource varies may download it once more.
        #expect(stack.downloader.count < 2 * paths.count)
    }

    @Test func `the marker on disk is no layer, and tells what the cache contains`() async throws {
        let stack = Stack(server { "X-Token" })
        _ = try await stack.load(try request("1"))
        await stack.pipeline.flush()
        // The bytes, and the marker.
        #expect(stack.disk.entries.value.count == 2)
        let next = other(stack, sharesMemory: false)
        #expect(await next.cache.contains(try request("2")) == [])
        #expect(await next.cache.contains(try request("1")) == .original)
        #expect(await other(stack, sharesMemory: false).cache.contains(try request(nil)) == [])
    }

    @Test func `a removal reaches the image of its own request, also in the next process`() async throws {
        let stack = Stack(server { "X-Token" })
        for token in ["1", "2"] { _ = try await stack.load(try request(token)) }
        await stack.pipeline.flush()
        let next = other(stack, sharesMemory: false)

        await next.cache.remove(try request("1"))

        #expect(await next.cache.contains(try request("1")) == [])
        #expect(try await next.load(try request("2")).layer == .disk)
        await next.cache.remove(try request("2"), allVariants: true)
        #expect(stack.disk.entries.value.isEmpty)
    }

    @Test func `bytes that are prefetched to disk are found by the same request only`() async throws {
        let stack = Stack(server { "X-Token" })
        let prefetcher = ImagePrefetcher(pipeline: stack.pipeline, destination: .disk)
        prefetcher.start([try request("1")])
        _ = try await prefetcher.report()
        let next = other(stack, sharesMemory: false)
        #expect(try await next.load(try request("2")).image.level == 2)
        #expect(try await next.load(try request("1")).layer == .disk)
        #expect(stack.downloader.count == 2)
    }

    @Test func `an image that the app stores belongs to requests with equal fields`() async throws {
        let stack = Stack(server { nil })
        try await stack.pipeline.cache.store(.gray(side: 1, level: 50), for: try request("1"))
        #expect(stack.pipeline.cache[try request("1")]?.level == 50)
        #expect(try await stack.load(try request("1")).image.level == 50)
        await stack.pipeline.flush()
        #expect(try await level("1", from: other(stack, sharesMemory: false)) == 50)
        #expect(try await level("2", from: other(stack, sharesMemory: false)) == 2)
        #expect(try await level("2", from: stack.pipeline) == 2)
    }

    @Test func `an image that the app stores for a resource that varies by everything is for equal requests`()
        async throws
    {
        let stack = Stack(server { "*" })
        _ = try await stack.load(try request("1"))
        stack.pipeline.cache[try request("1")] = .gray(side: 1, level: 50)
        #expect(stack.pipeline.cachedImage(for: try request("1"))?.level == 50)
        #expect(stack.pipeline.cachedImage(for: try request("2")) == nil)
    }

    @Test func `an image that the app stores counts all own fields, also those of an earlier one`() async throws {
        let stack = Stack(server { nil })
        func request(_ fields: HTTPFields) throws -> ImageRequest {
            let url = try #require(URL(string: "http://127.0.0.1/a"))
            return ImageRequest(source: .http(HTTPRequest(url: url, fields: fields)))
        }
        stack.pipeline.cache[try request(["Referer": "r"])] = .gray(side: 1, level: 50)
        let first = try request(["Referer": "r", "X-Token": "1"])
        try await stack.pipeline.cache.store(.gray(side: 1, level: 60), for: first)

        #expect(stack.pipeline.cachedImage(for: first)?.level == 60)
        let second = try request(["Referer": "r", "X-Token": "2"])
        #expect(stack.pipeline.cachedImage(for: second) == nil)
        #expect(try await other(stack, sharesMemory: false).load(second).image.level == 2)
    }

    @Test func `an image that the app stores belongs to the requests that another process keeps apart`() async throws {
        let vary = Watched<String?>("X-Token")
        let stack = Stack(server { vary.value })
        _ = try await stack.load(try request("1"))
        vary.update { $0 = nil }
        // This process has seen that the resource no longer varies, the next one that it varies again.
        _ = try await stack.load(request("1") { $0.cachePolicy = .reload })
        await stack.pipeline.flush()
        vary.update { $0 = "X-Token" }
        let second = other(stack, sharesMemory: false)
        _ = try await second.load(request("2") { $0.cachePolicy = .reload })
        await second.flush()

        try await stack.pipeline.cache.store(.gray(side: 1, level: 50), for: try request("1"))

        await stack.pipeline.flush()
        let next = other(stack, sharesMemory: false)
        #expect(try await level("2", from: next) == 2)
        #expect(try await level("1", from: next) == 50)
    }

    @Test func `a load that may not write to disk removes nothing there`() async throws {
        let vary = Watched<String?>("X-Token")
        let stack = Stack(server { vary.value })
        func bright(_ policy: CachePolicy) throws -> ImageRequest {
            try request("1") {
                $0.processors = [Brighten(step: 100)]
                $0.dataCachePolicy = .processed
                $0.cachePolicy = policy
            }
        }
        _ = try await stack.load(bright(CachePolicy()))
        await stack.pipeline.flush()
        let entries = Set(stack.disk.entries.value.keys)
        vary.update { $0 = nil }
        let second = other(stack, sharesMemory: false)

        _ = try await second.load(bright(CachePolicy(disk: .none)))

        await second.flush()
        #expect(!entries.isEmpty)
        #expect(Set(stack.disk.entries.value.keys) == entries)
    }

    @Test func `a further attempt for another user is stored for neither`() async throws {
        let user = Watched(1)
        let stack = Stack(
            FakeDownloader { request, _ in
                // The first attempt fails while another user signs in.
                if user.value == 1 { user.update { $0 = 2 } }
                guard let http = try await request.renewal?() else { throw CancellationError() }
                let head = HTTPResponseHead(url: http.url, status: 200)
                return Download(
                    data: level(http.url.query() == "user=2" ? 2 : 1),
                    response: HTTPResponse(head: head, body: HTTPBody(Data())))
            })
        var request = try request(nil)
        request.modifyRequest = { $0.url = try #require(URL(string: "http://127.0.0.1/a?user=\(user.value)")) }
        #expect(try await stack.load(request).image.level == 2)
        await stack.pipeline.flush()
        #expect(stack.memory.count == 0)
        #expect(stack.disk.entries.value.isEmpty)
        // An attempt for the same user is.
        #expect(try await stack.load(request).image.level == 2)
        #expect(stack.memory.count == 1)
    }

    @Test func `a further attempt with another value is stored for neither user`() async throws {
        let user = Watched(1)
        let stack = Stack(
            FakeDownloader { request, _ in
                // The first attempt fails while another user signs in.
                if user.value == 1 { user.update { $0 = 2 } }
                guard let http = try await request.renewal?() else { throw CancellationError() }
                let head = HTTPResponseHead(url: http.url, status: 200, fields: ["Vary": "X-Token"])
                return Download(
                    data: level(http.fields["X-Token"].flatMap { Int($0) } ?? 0),
                    response: HTTPResponse(head: head, body: HTTPBody(Data())))
            })
        var request = try request(nil)
        request.modifyRequest = { $0.fields["X-Token"] = "\(user.value)" }
        #expect(try await stack.load(request).image.level == 2)
        await stack.pipeline.flush()
        #expect(stack.memory.count == 0)
        #expect(stack.stored(try self.request("1")) == nil)
        // An attempt for the same user is.
        #expect(try await stack.load(request).image.level == 2)
        #expect(stack.memory.count == 1)
    }

    @Test func `another source with the resource of one that varies is loaded`() async throws {
        let server = server { "X-Token" }
        let stack = Stack(
            FakeDownloader { request, progress in
                guard case .http = request.source else { return Download(data: level(9)) }
                return try await server.respond(request, progress)
            })
        _ = try await stack.load(request("1") { $0.resource = ResourceKey("R") })
        await stack.pipeline.flush()
        var bytes = ImageRequest(source: .provider(identity: "p") { Data("level:9".utf8) })
        bytes.resource = ResourceKey("R")
        for pipeline in [stack.pipeline, other(stack, sharesMemory: false)] {
            #expect(try await pipeline.load(bytes).image.level == 9)
            #expect(try await pipeline.data(for: bytes) == level(9))
        }
    }

    @Test func `an image that the app stores is for all when the server no longer varies`() async throws {
        let vary = Watched<String?>("X-Token")
        let stack = Stack(server { vary.value })
        _ = try await stack.load(try request("1"))
        vary.update { $0 = nil }
        _ = try await stack.load(request("1") { $0.cachePolicy = .reload })
        stack.pipeline.cache[try request("1")] = .gray(side: 1, level: 50)
        #expect(stack.pipeline.cachedImage(for: try request("1"))?.level == 50)
        #expect(stack.pipeline.cachedImage(for: try request("2"))?.level == 50)
    }

    @Test func `a newer image replaces the one of its own user only`() async throws {
        let versions = Watched(0)
        let stack = Stack(
            FakeDownloader { request, _ in
                guard case .http(let http) = request.source else { throw CancellationError() }
                let number = (Int(http.fields["X-Token"] ?? "0") ?? 0) + versions.value
                let head = HTTPResponseHead(url: http.url, status: 200, fields: ["Vary": "X-Token"])
                return Download(data: level(number), response: HTTPResponse(head: head, body: HTTPBody(Data())))
            })
        for token in ["1", "2"] { _ = try await stack.load(try request(token)) }
        versions.update { $0 = 100 }
        let shown = Watched<[UInt8]>([])
        let refreshing = try request("1") { $0.showsCachedFirst = true }
        let response = try await stack.pipeline.load(refreshing, priority: PriorityHandle(.normal)) {
            if case .cached(let response) = $0 { shown.update { $0.append(response.image.level) } }
        }
        #expect(shown.value == [1])
        #expect(response.image.level == 101)
        #expect(try await level("1", from: stack.pipeline) == 101)
        let second = try await level("2", from: stack.pipeline)
        #expect(second == 2 || second == 102)
    }

    // MARK: Default fields

    /// A pipeline over the package's downloader, whose default User-Agent is `agent`.
    private func pipeline(
        _ agent: String, _ stack: Stack, vary: String?, _ change: (inout DownloaderConfiguration) -> Void = { _ in }
    ) -> ImagePipeline {
        var configuration = DownloaderConfiguration()
        configuration.defaultFields = ["User-Agent": agent]
        change(&configuration)
        let transport = FakeTransport { request in
            let fields: HTTPFields = vary.map { ["Vary": $0] } ?? [:]
            let number = Int(request.fields["User-Agent"] ?? "0") ?? 0
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: 200, fields: fields),
                body: HTTPBody(Data("level:\(number)".utf8)))
        }
        return ImagePipeline(
            ImagePipeline.Configuration(
                downloader: Downloader(transport: transport, configuration: configuration),
                codecs: FakeCodec().registry, memoryCache: stack.memory, diskCache: stack.disk))
    }

    @Test func `a default field counts if the server varies by it`() async throws {
        let stack = Stack(server { nil })
        let first = pipeline("1", stack, vary: "User-Agent")
        #expect(try await level(nil, from: first) == 1)
        await first.flush()
        let second = pipeline("2", stack, vary: "User-Agent")
        #expect(try await level(nil, from: second) == 2)
        stack.memory.removeAll()
        #expect(try await level(nil, from: pipeline("1", stack, vary: "User-Agent")) == 1)
    }

    @Test func `another default field empties no cache`() async throws {
        let stack = Stack(server { nil })
        let first = pipeline("1", stack, vary: nil)
        #expect(try await level(nil, from: first) == 1)
        await first.flush()
        stack.memory.removeAll()
        #expect(try await pipeline("2", stack, vary: nil).load(try request(nil)).layer == .disk)
    }
}
