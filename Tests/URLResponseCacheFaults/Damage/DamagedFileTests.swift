import AlcedoCore
import AlcedoDiskCache
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

/// Damaged responses on disk.
@Suite(.timeLimit(.minutes(10)))
struct DamagedFileTests {
    private let directory: TemporaryDirectory
    private let server = FakeTransport {
        HTTPResponse(
            $0, ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Vary": "X"], String(repeating: "body ", count: 99))
    }
    private let clock = ManualClock()
    private let body = String(repeating: "body ", count: 99)

    init() throws { directory = try TemporaryDirectory() }

    /// A new cache over the same directory.
    private func cache() -> CachingTransport {
        CachingTransport(
            wrapping: server,
            store: DataResponseStore(FileDiskCache(directory: directory.url, lockTimeout: .seconds(300))), clock: clock
        )
    }

    private var files: [URL] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: directory.path)) ?? []
        return paths.sorted().map { directory.url.appending(path: $0) }
            .filter { (try? Data(contentsOf: $0)).map { !$0.isEmpty } ?? false }
    }

    @Test func `flipped bits, truncations and foreign bytes in any file are a miss, and the next store repairs it`()
        async throws
    {
        var random = SeededGenerator(seed: 1)
        let request = HTTPRequest(url: .page(), fields: ["X": "1"])
        #expect(try await cache().send(request).text() == body)
        for round in 0..<60 {
            let files = files
            #expect(!files.isEmpty)
            for file in files where Bool.random(using: &random) {
                guard var bytes = try? Data(contentsOf: file), !bytes.isEmpty else { continue }
                switch round % 4 {
                case 0:
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
                        1 << UInt8.random(in: 0...7, using: &random)
                case 1: bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))
                case 2: bytes += Data("more".utf8)
                default: bytes = Data((0..<bytes.count).map { _ in UInt8.random(in: 0...255, using: &random) })
                }
                try bytes.write(to: file)
            }
            let cache = cache()
            let response = try await cache.send(request)
            #expect(response.head.status == 200)
            #expect(try await response.text() == body, "round \(round)")
            await cache.finish()
        }
        let count = server.requests.count
        #expect(try await cache().send(request).text() == body)
        #expect(server.requests.count == count)
    }

    @Test func `metadata that is not a response's is a miss and is removed`() async throws {
        let data = FileDiskCache(directory: directory.url, lockTimeout: .seconds(300))
        let key = ImageKey(ResourceKey(normal: .page()))
        let request = HTTPRequest(url: .page())
        for notes in [Data(), Data("foreign".utf8), Data(repeating: 0, count: 64), Data(repeating: 0xFF, count: 4_096)]
        {
            try await data.store(CachedData(Data("wrong".utf8), metadata: notes), for: key)
            let store = DataResponseStore(data)
            #expect(await store.entry(for: key) == nil)
            #expect(await data.contains(key) == false)
            let cache = CachingTransport(wrapping: server, store: store, clock: clock)
            #expect(try await cache.send(request).text() == body)
        }
    }

    @Test func `an entry of a later format is a miss`() async throws {
        let data = FileDiskCache(directory: directory.url, lockTimeout: .seconds(300))
        let key = ImageKey(ResourceKey(normal: .page()))
        var (metadata, _) = ResponseEntry.variants(ResponseVariants()).encoded
        metadata[metadata.startIndex] += 1
        try await data.store(CachedData(Data(), metadata: metadata), for: key)

        #expect(await DataResponseStore(data).entry(for: key) == nil)
    }

    @Test func `a directory removed under the cache fails no request`() async throws {
        let cache = cache()
        let request = HTTPRequest(url: .page(), fields: ["X": "1"])
        for _ in 0..<3 {
            #expect(try await cache.send(request).text() == body)
            // A removal with its contents can fail while the cache creates files, so the directory is renamed first.
            let removed = directory.url.appendingPathExtension("removed")
            try FileManager.default.moveItem(at: directory.url, to: removed)
            try? FileManager.default.removeItem(at: removed)
        }
    }

    @Test func `a directory that cannot be created acts like no cache`() async throws {
        let file = directory.url.appending(path: "file")
        try Data("x".utf8).write(to: file)
        let cache = CachingTransport(
            wrapping: server, store: DataResponseStore(FileDiskCache(directory: file, lockTimeout: .seconds(1))),
            clock: clock)
        for _ in 0..<2 { #expect(try await cache.send(HTTPRequest(url: .page())).text() == body) }

        #expect(server.requests.count == 2)
    }
}
