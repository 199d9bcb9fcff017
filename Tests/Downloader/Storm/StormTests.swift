import AlcedoCURL
import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoLibc
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StormTests {
    private static func configuration(hostLimit: Int) -> DownloaderConfiguration {
        var configuration = DownloaderConfiguration(
            maxConcurrentDownloads: 6, maxConcurrentDownloadsPerHost: hostLimit, order: .lastInFirstOut)
        configuration.retry = RetryPolicy(maximumAttempts: 3, baseDelay: .zero, maximumRetryAfter: .zero)
        configuration.retryBudget = RetryBudget(share: 1, perSecond: 0, burst: 1_000)
        configuration.maximumRedirectCount = 2
        return configuration
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `ten thousand random downloads over a random transport each have one outcome`(seed: UInt64) async throws {
        let directory = try TemporaryDirectory()
        let transport = MeasuredTransport(StormTransport())
        let downloader = Downloader(
            transport: transport, configuration: Self.configuration(hostLimit: 2), clock: ManualClock())
        let storm = Storm(
            downloader, seed: seed, directory: directory.path,
            origins: ["http://a", "http://b", "https://a", "http://c:81"])

        try await storm.run()
        await downloader.shutDown()

        try storm.check()
        let counts = transport.counts.value
        #expect(counts.maximum == 6)
        #expect(counts.maximumPerHost == 2)
        #expect(transport.runningCount == 0)
        #expect(downloader.transferCounts == (0, 0))
    }

    @Test func `shutting down in the middle of a storm ends every download`() async throws {
        let directory = try TemporaryDirectory()
        let transport = MeasuredTransport(StormTransport())
        let downloader = Downloader(
            transport: transport, configuration: Self.configuration(hostLimit: .max), clock: ManualClock())
        let storm = Storm(downloader, seed: 3, directory: directory.path, origins: ["http://a"])
        async let end: Void = storm.run()
        try await storm.ends.waitUntil { $0.successes >= 500 }

        await downloader.shutDown()

        #expect(transport.runningCount == 0)
        try await end
        let ends = storm.ends.value
        #expect(ends.counts.allSatisfy { $0 == 1 })
        #expect(ends.problems.isEmpty, "\(ends.problems.prefix(5))")
        #expect(ends.failures["shutDown"] ?? 0 > 1_000)
    }

    /// In its own process with its own descriptors and memory.
    @Test(.spawnsProcesses)
    func `ten thousand random downloads over libcurl from a faulty server leave no resources behind`()
        async throws
    {
        await #expect(processExitsWith: .success) {
            var options = OriginOptions()
            // The origin's log would look like a leak.
            options.logLimit = 400
            let origin = try LoopbackOrigin(options: options) { Self.reply(to: $0) }
            let directory = try TemporaryDirectory()
            let lost = Watched(0)
            let release = Task {
                while !Task.isCancelled {
                    try await origin.waitForStalls()
                    origin.release()
                }
            }
            /// Runs a storm with its own objects, which are released when this returns.
            func storm(_ seed: UInt64, _ count: Int) async throws {
                let transport = MeasuredTransport(CURLTransport())
                let downloader = Downloader(
                    transport: transport, configuration: Self.configuration(hostLimit: 4))
                let storm = Storm(
                    downloader, seed: seed, count: count, directory: directory.path,
                    origins: ["http://127.0.0.1:\(origin.port)", "http://localhost:\(origin.port)"])
                try await storm.run()
                await downloader.shutDown()
                try storm.check()
                let counts = transport.counts.value
                #expect(counts.maximum == 6)
                #expect(counts.maximumPerHost <= 4)
                #expect(transport.runningCount == 0, "\(counts) \(downloader.transferCounts)")
                #expect(downloader.transferCounts == (0, 0), "\(counts) \(downloader.transferCounts)")
                lost.update { $0 += counts.requests }
            }
            try await storm(1, 8_000)
            try await origin.waitUntil { $0.openConnectionCount == 0 }
            let (descriptors, memory) = (try Self.descriptorCount(), ResidentMemory.byteCount)

            try await storm(2, 10_000)

            try await origin.waitUntil { $0.openConnectionCount == 0 }
            release.cancel()
            #expect(lost.value > 2_000, "\(lost.value)")
            // libcurl's loop releases its descriptors a moment after the connections.
            try await eventually({ try Self.descriptorCount() <= descriptors }, "more than \(descriptors) descriptors")
            if !keepsFreedMemory, !recordsAccesses {
                let growth = ResidentMemory.byteCount - memory
                #expect(growth < 12 << 20, "\(growth)")
            }
        }
    }

    private static func descriptorCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    private static func reply(to request: OriginRequest) -> OriginReply {
        let number = StormContent.number(request.path)
        let (status, fields, body) = StormContent.response(number, range: request.fields["Range"])
        var reply = OriginReply(status: status, fields: fields, body: body)
        let middle = OriginReply.Position.afterBody(body.count / 2)
        switch StormContent.fate(of: number, attempt: request.attempt) {
        case .whole: return reply
        case .chunked:
            reply.framing = .chunked(size: 1_000)
            return reply
        case .breaking: return reply.cutting(at: middle)
        case .resetting: return reply.cutting(at: middle, .reset)
        case .busy: return .status(503, fields: ["Retry-After": "0"])
        case .missing: return .status(404)
        case .redirect: return .redirect(to: "/\(number)")
        case .silent: return reply.cutting(at: .beforeHead)
        case .stalling: return reply.stalling(at: middle)
        case .rejected: return .raw(Data("what?".utf8))
        }
    }
}
