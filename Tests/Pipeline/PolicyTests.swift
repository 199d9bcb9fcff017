import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PolicyTests {
    private let stack = Stack(FakeDownloader(giving: level(7)))

    private func request(_ policy: CachePolicy) throws -> ImageRequest { try web("a") { $0.cachePolicy = policy } }

    @Test func `reloading reads no cache and writes all caches`() async throws {
        let old = try web("a")
        stack.memory.store(.gray(side: 1, level: 1), for: old.key)
        try await stack.disk.store(level(2), for: old.originalKey)

        let response = try await stack.load(try request(.reload))
        await stack.pipeline.flush()

        #expect(response.layer == .network)
        #expect(response.image.level == 7)
        #expect(stack.memory.image(for: old.key)?.level == 7)
        #expect(stack.stored(old) == level(7))
        #expect(stack.disk.reads.value == 0)
    }

    @Test func `with caches only, a miss is an error and nothing is sent`() async throws {
        let error = try await stack.failure(try request(.cacheOnly))
        #expect(error.code == .notInCache)
        #expect(stack.downloader.count == 0)

        try await stack.disk.store(level(2), for: try web("a").originalKey)
        #expect(try await stack.load(try request(.cacheOnly)).layer == .disk)
        #expect(try await stack.load(try request(.cacheOnly)).layer == .memory)
        #expect(stack.downloader.count == 0)
    }

    @Test func `with caches only, local sources are still read`() async throws {
        var local = ImageRequest(source: .bytes(Data([1]), identity: "b"))
        local.cachePolicy = .cacheOnly
        #expect(try await stack.load(local).layer == .local)
    }

    @Test func `with no cache access nothing is read or written`() async throws {
        for _ in 0..<2 { #expect(try await stack.load(try request(.none)).layer == .network) }
        await stack.pipeline.flush()
        #expect(stack.downloader.count == 2)
        #expect(stack.memory.count == 0)
        #expect(stack.disk.stores.value == 0)
        #expect(stack.disk.reads.value == 0)
    }

    @Test func `each layer has its own access`() async throws {
        _ = try await stack.load(try request(CachePolicy(memory: .none, disk: .write)))
        await stack.pipeline.flush()
        #expect(stack.memory.count == 0)
        #expect(stack.disk.entries.value.count == 1)

        #expect(try await stack.load(try request(CachePolicy(memory: .read, disk: .read))).layer == .disk)
        #expect(stack.memory.count == 0)

        #expect(try await stack.load(try request(CachePolicy(memory: .write, disk: .read))).layer == .disk)
        #expect(stack.memory.count == 1)
    }

    struct PolicyCase: Sendable {
        var access: CachePolicy.Access
        var given: HTTPCachePolicy
        var sent: HTTPCachePolicy
        var allowsStoring: Bool
    }

    @Test(arguments: [
        PolicyCase(access: .all, given: .useProtocolCachePolicy, sent: .useProtocolCachePolicy, allowsStoring: true),
        PolicyCase(
            access: .write, given: .useProtocolCachePolicy, sent: .reloadIgnoringLocalCacheData, allowsStoring: true),
        PolicyCase(access: .read, given: .useProtocolCachePolicy, sent: .useProtocolCachePolicy, allowsStoring: false),
        PolicyCase(
            access: .none, given: .useProtocolCachePolicy, sent: .reloadIgnoringLocalCacheData, allowsStoring: false),
        // The caller's choice is kept.
        PolicyCase(access: .all, given: .returnCacheDataElseLoad, sent: .returnCacheDataElseLoad, allowsStoring: true),
        PolicyCase(
            access: .write, given: .reloadRevalidatingCacheData, sent: .reloadRevalidatingCacheData, allowsStoring: true
        ),
        PolicyCase(
            access: .none, given: .reloadIgnoringLocalAndRemoteCacheData, sent: .reloadIgnoringLocalAndRemoteCacheData,
            allowsStoring: false),
    ])
    func `the request's cache policy reaches response caches without header fields`(row: PolicyCase) async throws {
        var request = try request(CachePolicy(response: row.access))
        if case .http(var http) = request.source {
            http.cachePolicy = row.given
            http.fields["Cache-Control"] = "max-age=5"
            request.source = .http(http)
        }
        _ = try await stack.load(request)

        guard case .http(let http) = stack.downloader.requests.value.first?.source else {
            Issue.record("nothing was requested")
            return
        }
        #expect(http.cachePolicy == row.sent)
        #expect(http.allowsStoring == row.allowsStoring)
        #expect(http.fields == ["Cache-Control": "max-age=5"])
    }

    @Test func `caches identify the image by the caller's resource`() async throws {
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
