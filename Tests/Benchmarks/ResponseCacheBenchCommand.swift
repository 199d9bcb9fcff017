import Alcedo
import AlcedoCore
import AlcedoDiskCache
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoURLResponseCache
import Foundation

/// `alcedo-bench response-cache`
struct ResponseCacheBenchCommand: ProgramCommand {
    static let name = "response-cache"
    static let help = """
        usage: alcedo-bench response-cache [--directory DIR] [--urls N] [--rounds N]

        Measures fresh hits: from memory, requested by one task; from disk, against a read of the same entry from the
        disk cache; and from memory with many URLs of ten variants each, against few. Each response has 16 fields.

          --directory DIR  work in DIR, which is created if needed; its files are removed (default: the temporary
                           directory)
          --urls N         store ten variants of N URLs (default: 100000)
          --rounds N       measure N rounds; the best counts (default: 5)

        """

    private var directory = FileManager.default.temporaryDirectory
    private var urlCount = 100_000
    private var rounds = 5

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--directory": directory = URL(filePath: try arguments.value(of: option))
        case "--urls": urlCount = try arguments.number(of: option, in: 1_000...10_000_000)
        case "--rounds": rounds = try arguments.number(of: option, in: 1...1_000)
        default: return false
        }
        return true
    }

    func run() async throws -> ExitStatus {
        let scratch = try BenchDirectory(in: directory)
        defer { scratch.remove() }
        let location = scratch.url
        try await ResponseHitBenchmark(directory: location, urlCount: urlCount, rounds: rounds).run()
        return .success
    }
}

/// Measures fresh hits.
private struct ResponseHitBenchmark {
    private static let variantCount = 10
    private static let smallCount = 1_000

    let directory: URL
    let urlCount: Int
    let rounds: Int

    func run() async throws {
        Console.output(BenchTable.row(["fresh hit", "microseconds", "per second", "relative"]))
        try await measureMemory()
        try await measureDisk()
        try await measureVariants()
    }

    private func measureMemory() async throws {
        let body = Data(count: 4 << 10)
        let cache = CachingTransport(
            wrapping: CannedTransport(body: body, vary: nil), store: MemoryResponseStore(byteLimit: 1 << 30))
        let requests = Self.requests(Self.smallCount)
        try await Self.fill(cache, requests)
        let send = try await best(200_000) { try await Self.hit(cache, requests[$0 % requests.count]) }
        report("from memory", send)
        BenchFigure("fresh responses from memory", 1_000_000 / send, unit: "/s", .atLeast(200_000)).record()
        let read = try await best(200_000) {
            let response = try await cache.send(requests[$0 % requests.count])
            let count = try await response.body.collect(limit: .max).count
            precondition(count == body.count)
        }
        report("from memory, body read", read, over: send)
    }

    private func measureDisk() async throws {
        for size in [4 << 10, 64 << 10, 1 << 20] {
            let count = max(64, min(1_000, (64 << 20) / size))
            let body = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            let limits = DataCacheLimits(sizeLimit: .max)
            let files = FileDiskCache(directory: directory.appending(path: "own-\(size)"), limits: limits)
            let backing = FileDiskCache(directory: directory.appending(path: "responses-\(size)"), limits: limits)
            let cache = CachingTransport(
                wrapping: CannedTransport(body: body, vary: nil), store: DataResponseStore(backing))
            let requests = Self.requests(count)
            try await Self.fill(cache, requests)
            let keys = requests.map { ImageKey(ResourceKey($0.url)) }
            for key in keys { try await files.store(body, for: key) }
            await files.flush()
            await backing.flush()
            let total = count * 4
            var (own, sent) = (Double.infinity, Double.infinity)
            for _ in 0..<rounds {
                own = min(
                    own,
                    try await BenchTable.microseconds(total, concurrency: 1) { number in
                        let found = await files.entry(for: keys[number % count])
                        precondition(found?.data.count == size)
                    })
                sent = min(
                    sent,
                    try await BenchTable.microseconds(total, concurrency: 1) {
                        try await Self.hit(cache, requests[$0 % count])
                    })
            }
            report("FileDiskCache, \(size >> 10) KB", own)
            report("from disk, \(size >> 10) KB", sent, over: own)
            BenchFigure(
                "fresh response of \(size >> 10) KB from disk: time relative to the disk cache", sent / own,
                .atMost(1.3)
            ).record()
        }
    }

    private func measureVariants() async throws {
        var small: Double?
        for count in [Self.smallCount, urlCount] {
            let cache = CachingTransport(
                wrapping: CannedTransport(body: Data(count: 64), vary: "Accept-Language"),
                store: MemoryResponseStore(byteLimit: .max))
            for variant in 0..<Self.variantCount {
                for request in Self.requests(count, variant: variant) { try await Self.fill(cache, [request]) }
            }
            let requests = (0..<1_000).map { number in
                Self.request(number * (count / 1_000), variant: number % Self.variantCount)
            }
            let time = try await best(50_000) { try await Self.hit(cache, requests[$0 % requests.count]) }
            report("\(count) URLs, \(Self.variantCount) variants", time, over: small)
            small = small ?? time
        }
    }

    private func best(_ count: Int, _ work: @escaping @Sendable (Int) async throws -> Void) async throws -> Double {
        var best = Double.infinity
        for _ in 0..<rounds { best = min(best, try await BenchTable.microseconds(count, concurrency: 1, work)) }
        return best
    }

    private func report(_ name: String, _ microseconds: Double, over other: Double? = nil) {
        let ratio = other.map { String(BenchTable.rounded(microseconds / $0)) } ?? ""
        Console.output(
            BenchTable.row([
                name, String((microseconds * 100).rounded() / 100), String(Int(1_000_000 / microseconds)), ratio,
            ]))
    }

    private static func request(_ number: Int, variant: Int? = nil) -> HTTPRequest {
        let text = "https://images.example.org/albums/summer/\(number)/large.jpg?width=640"
        var fields: HTTPFields = ["Accept": "image/*", "User-Agent": "alcedo/1.0"]
        if let variant { fields["Accept-Language"] = "de-\(variant), en;q=0.5" }
        return HTTPRequest(url: URL(string: text) ?? URL(filePath: "/"), fields: fields)
    }

    private static func requests(_ count: Int, variant: Int? = nil) -> [HTTPRequest] {
        (0..<count).map { request($0, variant: variant) }
    }

    private static func fill(_ cache: CachingTransport, _ requests: [HTTPRequest]) async throws {
        for request in requests { _ = try await cache.send(request).body.collect(limit: .max) }
    }

    private static func hit(_ cache: CachingTransport, _ request: HTTPRequest) async throws {
        let response = try await cache.send(request)
        precondition(response.caching?.source == .fresh)
    }
}

/// A transport that immediately returns a response that is fresh for a day, with the fields that a content delivery
/// network sends.
struct CannedTransport: HTTPTransport {
    let body: Data
    let vary: String?

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var fields: HTTPFields = [
            "Server": "nginx", "Content-Type": "image/jpeg", "Content-Length": String(body.count),
            "Connection": "keep-alive", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
            "ETag": "\"5f7c2e1a-1000\"", "Cache-Control": "public, max-age=86400, stale-while-revalidate=600",
            "Accept-Ranges": "bytes", "X-Cache": "HIT", "X-Request-Id": "4a1f9c2e7b8d4e6f", "Via": "1.1 varnish",
            "Access-Control-Allow-Origin": "*", "Timing-Allow-Origin": "*", "X-Content-Type-Options": "nosniff",
            "Strict-Transport-Security": "max-age=31536000", "Alt-Svc": "h3=\":443\"; ma=86400",
        ]
        fields["Vary"] = vary
        return HTTPResponse(
            head: HTTPResponseHead(url: request.url, status: 200, fields: fields), body: HTTPBody(body))
    }
}
