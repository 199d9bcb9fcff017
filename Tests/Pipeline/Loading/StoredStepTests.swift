import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The images after the first processors of a request, on disk.
@Suite(.timeLimit(.minutes(10)))
struct StoredStepTests {
    private let disk = FakeDataCache()
    private let a = Brighten(step: 1)
    private let b = Brighten(step: 2)
    private let c = Brighten(step: 4)

    private func request(
        _ processors: [Brighten], _ policy: DataCachePolicy? = .processed,
        _ change: (inout ImageRequest) -> Void = { _ in }
    ) throws -> ImageRequest {
        try web("a") {
            $0.processors = processors
            $0.dataCachePolicy = policy
            change(&$0)
        }
    }

    /// A pipeline of another process on the same disk.
    private func stack(_ downloader: FakeDownloader = FakeDownloader(giving: level(7))) -> Stack {
        Stack(downloader, disk: disk)
    }

    /// Loads a request in a process of its own, and waits for the disk.
    @discardableResult
    private func load(_ request: ImageRequest, _ downloader: FakeDownloader? = nil) async throws -> ImageResponse {
        let stack = stack(downloader ?? FakeDownloader(giving: level(7)))
        let response = try await stack.load(request)
        await stack.pipeline.flush()
        return response
    }

    /// The number of questions whether the image after these processors is on disk.
    private func checkCount(_ processors: [Brighten]) throws -> Int {
        let key = try request(processors).key
        return disk.checks.value.count { $0 == key }
    }

    @Test(arguments: [DataCachePolicy.processed, .both], [CachePolicy.all, .cacheOnly])
    func `only the processors after the stored image run`(policy: DataCachePolicy, cachePolicy: CachePolicy)
        async throws
    {
        try await load(try request([a], policy))
        let longer = try request([a, b], policy) {
            $0.cachePolicy = cachePolicy
            $0.scale = 2
        }
        let stack = stack()

        let response = try await stack.load(longer)

        #expect(response.image.level == 10)
        #expect(response.image.scale == 2)
        #expect(response.layer == .disk)
        #expect(response.encodedByteCount == level(8).count)
        #expect(a.runs.value == 1)
        #expect(b.runs.value == 1)
        #expect(stack.downloader.count == 0)
        #expect(stack.codec.decodes.value == 1)
        await stack.pipeline.flush()
        #expect(disk.entries.value[longer.key]?.data == level(10))
        // The stored image is not taken for the original.
        #expect(stack.stored(longer) == (policy == .both ? level(7) : nil))
    }

    @Test func `the longest prefix on disk is used`() async throws {
        try await load(try request([a]))
        try await load(try request([a, b]))
        #expect(a.runs.value == 1)
        #expect(try await load(try request([a, b, c])).image.level == 14)
        #expect(a.runs.value == 1)
        #expect(b.runs.value == 1)
        #expect(c.runs.value == 1)

        _ = await disk.remove(try request([a, b, c]).key)
        _ = await disk.remove(try request([a, b]).key)
        #expect(try await load(try request([a, b, c])).image.level == 14)
        #expect(a.runs.value == 1)
        #expect(b.runs.value == 2)
    }

    @Test func `an image of a size is the prefix of its processors`() async throws {
        let target = TargetSize(width: 1, height: 1)
        try await load(try request([]) { $0.decoding.target = target })
        let stack = stack()
        #expect(try await stack.load(try request([a]) { $0.decoding.target = target }).image.level == 8)
        #expect(stack.downloader.count == 0)
    }

    @Test func `a held image is used before one on disk`() async throws {
        try await load(try request([a]))
        let stack = stack()
        _ = try await stack.load(try request([a]))
        let reads = disk.reads.value
        #expect(try await stack.load(try request([a, b])).layer == .memory)
        // Only the finished image was looked for.
        #expect(disk.reads.value == reads + 1)
    }

    @Test(arguments: [nil, .original] as [DataCachePolicy?])
    func `the disk is not asked under a policy that stores no images`(policy: DataCachePolicy?) async throws {
        try await load(try request([a]))
        let reads = disk.reads.value
        #expect(try await load(try request([a, b], policy)).layer == .network)
        #expect(try checkCount([a]) == 0)
        #expect(disk.reads.value == reads + 1)
        #expect(a.runs.value == 2)
    }

    @Test func `a request that does not read the disk finds nothing there`() async throws {
        try await load(try request([a]))
        #expect(try await load(try request([a, b]) { $0.cachePolicy = .reload }).layer == .network)
        #expect(a.runs.value == 2)
        #expect(try checkCount([a]) == 0)
    }

    @Test func `a prefix that is missing costs one question and is not reported`() async throws {
        let stack = stack()
        _ = try await stack.load(try request([a, b, c]))
        #expect(try [[a], [a, b], [a, b, c]].map(checkCount) == [1, 1, 0])
        // The finished image, and the original.
        #expect(stack.log.words.count { $0 == "disk miss" } == 2)
    }

    @Test func `a damaged prefix is removed, and the image is made of the original`() async throws {
        let prefix = try request([a])
        try await disk.store(CachedData(Data("fail:corrupt".utf8)), for: prefix.key)
        #expect(try await load(try request([a, b])).image.level == 10)
        #expect(disk.entries.value[prefix.key] == nil)
        #expect(a.runs.value == 1)
    }

    @Test func `after newer bytes arrive the older image is not used`() async throws {
        let number = Watched(99)
        let stack = stack(
            FakeDownloader { _, _ in
                let next = number.update { number -> Int in
                    number += 1
                    return number
                }
                return Download(data: level(next))
            })
        _ = try await stack.load(try request([a]))
        _ = try await stack.load(try request([]) { $0.cachePolicy = .reload })
        await stack.pipeline.flush()
        stack.memory.removeAll()
        #expect(await disk.contains(try request([a]).key))

        #expect(try await stack.load(try request([a, b])).image.level == 104)
    }

    @Test(arguments: [false, true])
    func `an image from disk of older bytes is not processed further`(isInMemory: Bool) async throws {
        try await load(try request([a]), FakeDownloader(giving: level(100)))
        let stack = stack(FakeDownloader(giving: level(110)))
        #expect(try await stack.load(try request([a])).layer == .disk)
        _ = try await stack.load(try request([]) { $0.cachePolicy = .reload })
        await stack.pipeline.flush()
        if !isInMemory { stack.memory.removeAll() }

        #expect(try await stack.load(try request([a, b])).image.level == 113)

        // The image of the request itself is found until it is replaced, as in memory.
        #expect(try await stack.load(try request([a])).image.level == 101)
        await stack.pipeline.flush()
        #expect(try await load(try request([a, b, c])).image.level == 117)
    }

    @Test(arguments: [false, true])
    func `in the next process an image older than the original on disk is not processed further`(isHeld: Bool)
        async throws
    {
        try await load(try request([a], .both), FakeDownloader(giving: level(100)))
        try await load(
            try request([], .both) { $0.cachePolicy = .reload }, FakeDownloader(giving: level(110)))
        let stack = stack()
        if isHeld { #expect(try await stack.load(try request([a], .both)).image.level == 101) }
        await stack.pipeline.flush()
        let reads = disk.reads.value

        let response = try await stack.load(try request([a, b], .both))

        #expect(response.image.level == 113)
        #expect(response.layer == .disk)
        #expect(stack.downloader.count == 0)
        // The image itself, the older one, and the original. The write of the image, which checks whether another
        // process has stored that the resource varies, reads no bytes.
        await stack.pipeline.flush()
        #expect(disk.reads.value == reads + 3)
        let original = try request([]).originalKey
        #expect(Set(disk.metadataReads.value) == [original])
    }

    @Test func `an image older than the original of another process is not processed further`() async throws {
        let stack = Stack(FakeDownloader(giving: level(100)), disk: disk, intermediateByteLimit: 0)
        _ = try await stack.load(try request([a], .both))
        await stack.pipeline.flush()
        try await load(try request([], .both) { $0.cachePolicy = .reload }, FakeDownloader(giving: level(110)))
        stack.memory.removeAll()

        #expect(try await stack.load(try request([a, b], .both)).image.level == 113)
    }

    @Test func `an original on disk is replaced by the newer bytes of a processed image`() async throws {
        let original = try request([]).originalKey
        try await load(try request([]), FakeDownloader(giving: level(100)))
        let stores = disk.stores.value
        try await load(try request([b]) { $0.cachePolicy = .reload }, FakeDownloader(giving: level(100)))
        #expect(disk.stores.value == stores + 1)

        try await load(try request([a]) { $0.cachePolicy = .reload }, FakeDownloader(giving: level(110)))

        #expect(disk.entries.value[original]?.data == level(110))
        let response = try await load(try request([a, b]))
        #expect(response.image.level == 113)
        #expect(a.runs.value == 1)
        #expect(try await load(try request([b, c])).image.level == 116)
    }

    @Test func `an image of unknown bytes is processed further only while the newest are not known`() async throws {
        try await disk.store(CachedData(level(50)), for: try request([a]).key)
        #expect(try await load(try request([a, b])).image.level == 52)
        _ = await disk.remove(try request([a, b]).key)
        try await load(try request([]))

        #expect(try await load(try request([a, b])).image.level == 10)
    }

    @Test func `bytes that are loaded without an image make older images outdated`() async throws {
        let number = Watched(100)
        let stack = stack(FakeDownloader { _, _ in Download(data: level(number.value)) })
        _ = try await stack.load(try request([a]))
        number.update { $0 = 110 }

        _ = try await stack.pipeline.data(for: try request([]) { $0.cachePolicy = .reload })

        await stack.pipeline.flush()
        stack.memory.removeAll()
        #expect(try await stack.load(try request([a, b])).image.level == 113)
    }

    @Test func `an original from the app makes older images outdated`() async throws {
        let stack = stack()
        _ = try await stack.load(try request([a]))
        await stack.pipeline.flush()

        try await stack.pipeline.cache.store(.gray(side: 1, level: 20), for: try request([]))

        stack.memory.removeAll()
        #expect(try await stack.load(try request([a, b])).image.level == 23)
        #expect(try await load(try request([a, c])).image.level == 25)
    }

    @Test func `an image from the app is processed further until newer bytes are known`() async throws {
        let number = Watched(100)
        let stack = stack(FakeDownloader { _, _ in Download(data: level(number.value)) })
        _ = try await stack.load(try request([]))
        try await stack.pipeline.cache.store(.gray(side: 1, level: 50), for: try request([a]))
        stack.memory.removeAll()
        #expect(try await stack.load(try request([a, b])).image.level == 52)
        number.update { $0 = 110 }

        _ = try await stack.load(try request([]) { $0.cachePolicy = .reload })

        stack.memory.removeAll()
        #expect(try await stack.load(try request([a, c])).image.level == 115)
    }

    @Test func `images made of a stored one are not held for requests that read none`() async throws {
        // A lossy format.
        try await disk.store(CachedData(level(50)), for: try request([a]).key)
        let stack = stack()
        #expect(try await stack.load(try request([a, b, c])).image.level == 56)
        let other = Brighten(step: 8)
        #expect(try await stack.load(try request([a, b, other], .original)).image.level == 18)
    }

    @Test func `an image of another user, serializer or color space is not a prefix`() async throws {
        try await load(try request([a]))
        let changes: [@Sendable (inout ImageRequest) -> Void] = [
            { $0.additionalIdentifier = "x" }, { $0.serializer = DefaultCacheSerializer() },
            { $0.colorSpace = .displayP3 }, { $0.decoding.includesAnimation = false },
        ]
        for change in changes {
            #expect(try await load(try request([a, b], .processed, change)).layer == .network)
        }
        #expect(a.runs.value == 1 + changes.count)
    }

    @Test func `in the next process an image is the prefix of requests with equal values of the fields`() async throws {
        let server = FakeDownloader { request, _ in
            guard case .http(let http) = request.source else { throw CancellationError() }
            return Download(
                data: level(Int(http.fields["X-Token"] ?? "0") ?? 0),
                response: HTTPResponse(
                    head: HTTPResponseHead(url: http.url, status: 200, fields: ["Vary": "X-Token"]),
                    body: HTTPBody(Data())))
        }
        func request(_ token: String, _ processors: [Brighten]) throws -> ImageRequest {
            let url = try #require(URL(string: "http://127.0.0.1/a"))
            return try self.request(processors) {
                $0.source = .http(HTTPRequest(url: url, fields: ["X-Token": token]))
            }
        }
        try await load(try request("1", [a]), server)
        #expect(server.count == 1)

        let same = try await load(try request("1", [a, b]), server)
        #expect(same.image.level == 4)
        #expect(same.layer == .disk)
        #expect(server.count == 1)
        #expect(try await load(try request("2", [a, b]), server).image.level == 5)
        #expect(server.count == 2)
    }
}
