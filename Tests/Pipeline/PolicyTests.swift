import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct PolicyTests {
    private let stack = Stack(FakeDownloader(giving: level(7)))

    private func request(_ policy: CachePolicy) throws -> ImageRequest { try web("a") { $0.cachePolicy = policy } }

    @Test func `reloading reads no cache and writes all`() async throws {
        let old = try web("a")
        stack.memory.store(.gray(side: 1, level: 1), for: old.key)
        try await stack.disk.store(level(2), for: old.originalKey)

        let response = try await stack.load(try request(.reload))
        await stack.pipeline.flush()

        #expect(response.layer == .network && response.image.level == 7)
        #expect(stack.memory.image(for: old.key)?.level == 7)
        #expect(stack.stored(old) == level(7))
        #expect(stack.disk.reads.value == 0)
    }

    @Test func `with caches only, a miss is an error and the network stays silent`() async throws {
        let error = try await stack.failure(try request(.cacheOnly))
        #expect(error.code == .notInCache)
        #expect(stack.downloader.count == 0)

        try await stack.disk.store(level(2), for: try web("a").originalKey)
        #expect(try await stack.load(try request(.cacheOnly)).layer == .disk)
        #expect(try await stack.load(try request(.cacheOnly)).layer == .memory)
        #expect(stack.downloader.count == 0)
    }

    @Test func `with caches only, sources on this machine are read all the same`() async throws {
        var local = ImageRequest(source: .bytes(Data([1]), identity: "b"))
        local.cachePolicy = .cacheOnly
        #expect(try await stack.load(local).layer == .local)
    }

    @Test func `without caches nothing is read and nothing written`() async throws {
        for _ in 0..<2 { #expect(try await stack.load(try request(.none)).layer == .network) }
        await stack.pipeline.flush()
        #expect(stack.downloader.count == 2)
        #expect(stack.memory.count == 0)
        #expect(stack.disk.stores.value == 0 && stack.disk.reads.value == 0)
    }

    @Test func `each layer's access is its own`() async throws {
        _ = try await stack.load(try request(CachePolicy(memory: [], disk: .write)))
        await stack.pipeline.flush()
        #expect(stack.memory.count == 0 && stack.disk.entries.value.count == 1)

        #expect(try await stack.load(try request(CachePolicy(memory: .read, disk: .read))).layer == .disk)
        #expect(stack.memory.count == 0)

        #expect(try await stack.load(try request(CachePolicy(memory: .write, disk: .read))).layer == .disk)
        #expect(stack.memory.count == 1)
    }

    // RFC 9111 section 5.2.1.
    @Test(
        arguments: [
            (CachePolicy.Access.all, nil, nil), (.write, nil, "no-cache"), (.read, nil, "no-store"),
            ([], nil, "no-cache, no-store"), ([], "max-age=5", "max-age=5"),
        ] as [(CachePolicy.Access, String?, String?)])
    func `what response caches may do is told in HTTP's words`(
        access: CachePolicy.Access, given: String?, sent: String?
    ) async throws {
        var request = try request(CachePolicy(responses: access))
        if case .http(var http) = request.source {
            http.fields["Cache-Control"] = given
            request.source = .http(http)
        }
        _ = try await stack.load(request)

        guard case .http(let http) = stack.downloader.requests.value.first?.source else {
            Issue.record("nothing was asked for")
            return
        }
        #expect(http.fields["Cache-Control"] == sent)
    }

    @Test func `the caller's resource is what caches know the image by`() async throws {
        let first = try web("a?token=1") { $0.resource = ResourceKey("picture") }
        let second = try web("a?token=2") { $0.resource = ResourceKey("picture") }
        _ = try await stack.load(first)
        #expect(try await stack.load(second).layer == .memory)
        await stack.pipeline.flush()
        stack.memory.removeAll()
        #expect(try await stack.load(second).layer == .disk)
        #expect(stack.downloader.count == 1)
    }
}
