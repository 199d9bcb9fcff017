import Alcedo
import AlcedoHTTP
import Foundation

extension GrowthGroup {
    /// The groups that measure loads in progress. The server responds only when all loads wait for it.
    static let loadGroups = [
        GrowthGroup("requests in flight") { count, _ in
            try await loads("n requests in flight", count) { "http://images.example.org/\($0).png" }
        },
        GrowthGroup("waiters for one image") { count, _ in
            try await loads("n waiters for one image", count) { _ in "http://images.example.org/1.png" }
        },
        GrowthGroup("distinct hosts") { count, _ in
            try await loads("n hosts, a request each", count) { "http://host-\($0).example.org/1.png" }
        },
    ]

    private static func loads(
        _ name: String, _ count: Int, of url: (Int) -> String
    ) async throws -> [GrowthSeries] {
        let requests = (0..<count).compactMap { URL(string: url($0)).map { ImageRequest(url: $0) } }
        let transport = FileTransport(file: try GrowthImages.smallFile())
        let (seconds, bytes) = try await GrowthMeter.bestWithMemory {
            let hold = GrowthHold()
            let pipeline = ImagePipeline(
                ImagePipeline.Configuration(
                    downloader: Downloader(transport: HeldTransport(transport: transport, hold: hold)),
                    codecs: .standard))
            let time = try await hold.time(count) { _ = try await pipeline.load(requests[$0]) }
            await pipeline.shutDown()
            return time
        }
        return [.total(name, count, seconds, bytes: bytes)]
    }

    /// A transport that responds to each request with the same image.
    private struct FileTransport: HTTPTransport {
        let file: Data

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: 200, fields: ["Content-Type": "image/png"]),
                body: HTTPBody(file))
        }
    }
}

/// A hold of responses until all requests of a measurement have begun.
struct GrowthHold: Sendable {
    private let release: AsyncStream<Void>.Continuation
    /// Ends when the responses are released.
    private let held: Task<Void, Never>

    init() {
        let (stream, release) = AsyncStream.makeStream(of: Void.self)
        self.release = release
        held = Task { for await _ in stream {} }
    }

    func wait() async { await held.value }

    /// Runs `work` in a task for each number, and releases the responses when all tasks have begun. Returns the time
    /// until all have ended.
    func time(_ count: Int, _ work: @escaping @Sendable (Int) async throws -> Void) async throws -> Duration {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        return try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    group.addTask {
                        begin.yield()
                        try await work(number)
                    }
                }
                for await _ in begun.prefix(count) {}
                release.finish()
                try await group.waitForAll()
            }
        }
    }
}

/// A transport that responds when its hold is released.
struct HeldTransport: HTTPTransport {
    let transport: any HTTPTransport
    let hold: GrowthHold

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        await hold.wait()
        return try await transport.send(request)
    }
}
