import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import AlcedoURLResponseCache
import Dispatch
public import FoundationEssentials

/// Passes one untrusted input through all functions of a response cache, and traps on forbidden behavior.
public enum ResponseFuzz {
    /// The URL of the stored responses.
    public static let url = URL(string: "http://example.test/a") ?? URL(filePath: "/")

    /// Exchanges between a cache and a server. Each part of the input that ends with an empty line is the header of a
    /// request, then that of its response, whose first line is the status.
    public static func runFields(_ bytes: UnsafeBufferPointer<UInt8>) {
        var parts: [HTTPFields] = [[:]]
        var statuses: [Int] = [200]
        for line in bytes.split(separator: 0x0A, maxSplits: 200, omittingEmptySubsequences: false) {
            // As in transports, a byte is a character.
            let text = String(String.UnicodeScalarView(line.map { Unicode.Scalar($0) }))
            if text.isEmpty {
                parts.append([:])
                statuses.append(200)
            } else if let colon = text.firstIndex(of: ":") {
                parts[parts.count - 1].append(String(text[..<colon]), String(text[text.index(after: colon)...]))
            } else {
                statuses[statuses.count - 1] = Int(text) ?? 200
            }
        }
        for role in [CacheRole.private, .shared(targets: ["CDN-Cache-Control"])] {
            let responses = ScriptedServer(
                heads: stride(from: 1, to: parts.count, by: 2).map { (statuses[$0], parts[$0]) })
            let cache = URLResponseCache(
                memoryLimit: 0, disk: DictionaryDataCache(), rules: ResponseCacheRules(role: role))
            let requests = stride(from: 0, to: parts.count, by: 2).map { HTTPRequest(url: url, fields: parts[$0]) }
            wait { await exchange(requests, responses, cache) }
        }
    }

    /// One entry read from disk: the input is its metadata.
    public static func runEntries(_ bytes: UnsafeBufferPointer<UInt8>) {
        let metadata = Data(bytes)
        wait {
            let disk = DictionaryDataCache()
            let key = ImageKey(ResourceKey(url))
            let stored = CachedData(Data("0123456789".utf8), metadata: metadata)
            disk.put(stored, for: key)
            guard let entry = ResponseEntry(metadata: metadata, body: stored.data) else {
                let cache = URLResponseCache(memoryLimit: 0, disk: disk)
                require(await cache.response(for: HTTPRequest(url: url)) == nil, "an unreadable entry was returned")
                return require(await !disk.contains(key), "an unreadable entry was not removed")
            }
            let written = entry.encoded
            require(
                ResponseEntry(metadata: written.metadata, body: written.body) == entry,
                "an entry that was read is written otherwise")
            let fields: [HTTPFields] = [
                [:], ["Range": "bytes=1-3"], ["Range": "bytes=-2"], ["If-None-Match": "\"a\""],
                ["Cache-Control": "max-stale"], ["Cache-Control": "only-if-cached"],
            ]
            for role in [CacheRole.private, .shared()] {
                let responses = ScriptedServer(heads: [
                    (304, [:]), (206, ["Content-Range": "bytes 10-12/13", "ETag": "\"a\""]), (503, [:]), (200, [:]),
                ])
                disk.put(stored, for: key)
                let cache = URLResponseCache(memoryLimit: 0, disk: disk, rules: ResponseCacheRules(role: role))
                await exchange(fields.map { HTTPRequest(url: url, fields: $0) }, responses, cache)
            }
        }
    }

    private static func exchange(
        _ requests: [HTTPRequest], _ server: ScriptedServer, _ cache: URLResponseCache
    ) async {
        let clock = ManualClock()
        let transport = CachingTransport(wrapping: server, cache: cache, clock: clock)
        for request in requests {
            let before = server.requestCount
            guard let response = try? await transport.send(request) else { continue }
            if response.responseSource == .fresh { require(server.requestCount == before, "fresh, yet requested") }
            // A response that was just validated has the fields that its server sent. RFC 9111 section 4.
            if [.fresh, .stale].contains(response.responseSource), response.head.status != 504 {
                let age = response.head.fields.values(of: "Age").last.flatMap { Int($0) }
                require(age.map { $0 >= 0 } ?? false, "a response from the store has no age")
            }
            _ = try? await response.body.collect(limit: 1 << 20)
            await transport.finish()
            clock.advance(by: .seconds(7))
        }
    }

    /// The fuzzer's thread does not belong to the pool, so it may block.
    private static func wait(_ work: @escaping @Sendable () async -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await work()
            done.signal()
        }
        done.wait()
    }

    private static func require(_ condition: Bool, _ message: @autoclosure () -> String) {
        guard !condition else { return }
        fatalError(message())
    }
}
