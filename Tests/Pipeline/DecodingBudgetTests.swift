import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import Dispatch
import FoundationEssentials
import TestSupport
import Testing

/// Takes as many bytes as its data says; decodes until it is told to end. A file that begins with "?" cannot be
/// inspected.
private struct HeavyCodec: ImageDecoding {
    struct Use: Sendable {
        var running = 0
        var most = 0
        var decoded: [Int] = []
    }

    let use = Guarded(Use())
    let gate = DispatchSemaphore(value: 0)

    var registry: CodecRegistry {
        CodecRegistry([CodecRegistry.Entry(format: ImageFormat(rawValue: "heavy"), decoder: self) { _ in true }])
    }

    static func data(_ byteCount: Int) -> Data { Data("\(byteCount)".utf8) }

    func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        throw ImageDecodingError(.corrupt, "not to be inspected")
    }

    func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        guard let count = Int(String(decoding: data, as: UTF8.self)) else {
            throw ImageDecodingError(.truncated, "no number")
        }
        return count
    }

    func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        let count = Int(String(decoding: data.drop { $0 == UInt8(ascii: "?") }, as: UTF8.self)) ?? 0
        use.change {
            $0.running += 1
            $0.most = max($0.most, $0.running)
            $0.decoded.append(count)
        }
        if count >= 50 { gate.wait() }
        use.change { $0.running -= 1 }
        return .gray(side: 1, level: 1)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct DecodingBudgetTests {
    private let codec = HeavyCodec()

    private func pipeline(width: Int) -> ImagePipeline {
        let downloader = FakeDownloader { request, _ in
            guard case .http(let http) = request.source else { throw CancellationError() }
            return Download(data: Data((http.url.lastPathComponent).utf8))
        }
        return ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: codec.registry, maxConcurrentDecodes: width,
                maximumDecodingByteCount: 100))
    }

    private func start(
        _ pipeline: ImagePipeline, _ name: String, id: String, _ priority: LoadPriority = .normal,
        limit: Int = 1000, allowsPartial: Bool = false
    ) throws -> Task<Void, any Error> {
        // Of one resource there would be one decode.
        let request = try web("\(id)/\(name)") {
            $0.priority = priority
            $0.decoding.limits.maximumByteCount = limit
            $0.decoding.allowsPartial = allowsPartial
        }
        return Task { _ = try await pipeline.load(request) }
    }

    private func settle() async { for _ in 0..<2000 { await Task.yield() } }

    private func waitForDecodes(_ count: Int) async {
        while codec.use.value.decoded.count < count { await Task.yield() }
    }

    @Test func `decodes that do not fit together run one after another`() async throws {
        let pipeline = pipeline(width: 4)
        let loads = try (0..<3).map { try start(pipeline, "60", id: "\($0)") }
        for number in 1...3 {
            await waitForDecodes(number)
            await settle()
            #expect(codec.use.value.running == 1)
            codec.gate.signal()
        }
        for load in loads { try await load.value }
        #expect(codec.use.value.most == 1 && codec.use.value.decoded == [60, 60, 60])
    }

    @Test func `decodes that fit together run together`() async throws {
        let pipeline = pipeline(width: 4)
        let loads = try (0..<2).map { try start(pipeline, "50", id: "\($0)") }
        while codec.use.value.running < 2 { await Task.yield() }
        for _ in loads { codec.gate.signal() }
        for load in loads { try await load.value }
    }

    @Test func `one who waits for bytes holds up no thread`() async throws {
        let pipeline = pipeline(width: 2)
        let first = try start(pipeline, "60", id: "a")
        await waitForDecodes(1)
        let waiting = try (0..<4).map { try start(pipeline, "60", id: "b\($0)") }
        await settle()

        // One of two threads is busy; if those who wait had the other, this would never end.
        try await start(pipeline, "20", id: "c", .veryHigh).value

        #expect(codec.use.value.decoded == [60, 20])
        for _ in 0...waiting.count { codec.gate.signal() }
        try await first.value
        for load in waiting { try await load.value }
        #expect(codec.use.value.most == 2)
    }

    @Test func `more than the whole budget is decoded alone`() async throws {
        let pipeline = pipeline(width: 4)
        let huge = try start(pipeline, "5000", id: "a")
        await waitForDecodes(1)
        let small = try start(pipeline, "1", id: "b")
        await settle()
        #expect(codec.use.value.decoded == [5000])
        codec.gate.signal()
        try await huge.value
        try await small.value
    }

    @Test func `a load that is cancelled while it waits for bytes is never decoded`() async throws {
        let pipeline = pipeline(width: 2)
        let first = try start(pipeline, "60", id: "a")
        await waitForDecodes(1)
        let second = try start(pipeline, "70", id: "b")
        await settle()
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        codec.gate.signal()
        try await first.value
        try await start(pipeline, "20", id: "c").value
        #expect(codec.use.value.decoded == [60, 20])
    }

    @Test func `bytes that cannot be inspected wait for nobody where no part is wanted`() async throws {
        let pipeline = pipeline(width: 2)
        let first = try start(pipeline, "60", id: "a")
        await waitForDecodes(1)
        // With the largest image's bytes it would wait until the first has ended, which it does after this.
        try await start(pipeline, "%3F3", id: "b").value
        #expect(codec.use.value.decoded == [60, 3])
        codec.gate.signal()
        try await first.value
    }

    @Test func `bytes that cannot be inspected count as the largest image allowed where a part is wanted`() async throws
    {
        let pipeline = pipeline(width: 2)
        let first = try start(pipeline, "60", id: "a")
        await waitForDecodes(1)
        try await start(pipeline, "%3F3", id: "small", limit: 40, allowsPartial: true).value
        let second = try start(pipeline, "%3F4", id: "large", limit: 41, allowsPartial: true)
        await settle()
        #expect(codec.use.value.decoded == [60, 3])
        codec.gate.signal()
        try await first.value
        try await second.value
        #expect(codec.use.value.decoded == [60, 3, 4])
    }
}
