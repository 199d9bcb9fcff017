import AlcedoCore
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Uses as many bytes as its data states. A decode of at least 50 bytes lasts until no other work is possible, because
/// it drains the executor of its pipeline. A file that begins with "?" cannot be inspected. A file of "!" and the name
/// of an error has this error when it is inspected.
private struct HeavyCodec: ImageDecoding {
    struct Use: Sendable {
        var opened = 0
        var running = 0
        var most = 0
        var decoded: [Int] = []
    }

    let executor: ManualExecutor
    let use = Watched(Use())
    /// Called in the first long decode.
    let meanwhile = Watched<(@Sendable () -> Void)?>(nil)

    var registry: CodecRegistry {
        CodecRegistry([CodecRegistry.Entry(format: ImageFormat(rawValue: "heavy"), decoder: self) { _ in true }])
    }

    static func data(_ byteCount: Int) -> Data { Data("\(byteCount)".utf8) }

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        use.update { $0.opened += 1 }
        return Reader(self, data)
    }

    private final class Reader: ImageReading {
        private let codec: HeavyCodec
        private let data: Data

        init(_ codec: HeavyCodec, _ data: Data) { (self.codec, self.data) = (codec, data) }

        var header: ImageHeader {
            ImageHeader(format: ImageFormat(rawValue: "heavy"), size: PixelSize(width: 1, height: 1))
        }

        func info() throws(ImageDecodingError) -> ImageInfo {
            throw ImageDecodingError(.corrupt, "not to be inspected")
        }

        func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
            if data.first == UInt8(ascii: "!"),
                let code = ImageDecodingError.Code(rawValue: String(decoding: data.dropFirst(), as: UTF8.self))
            {
                throw ImageDecodingError(code, "failed")
            }
            guard let count = Int(String(decoding: data, as: UTF8.self)) else {
                throw ImageDecodingError(.truncated, "no number")
            }
            return count
        }

        func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            let count = Int(String(decoding: data.drop { $0 == UInt8(ascii: "?") }, as: UTF8.self)) ?? 0
            codec.run(count, recordedAs: count)
            return .gray(side: 1, level: 1)
        }
    }

    /// Uses bytes until no other work is possible, if there are at least 50.
    func run(_ count: Int, recordedAs number: Int) {
        use.update {
            $0.running += 1
            $0.most = max($0.most, $0.running)
            $0.decoded.append(number)
        }
        if count >= 50 {
            let body = meanwhile.update { body in
                defer { body = nil }
                return body
            }
            body?()
            executor.drain()
        }
        use.update { $0.running -= 1 }
    }
}

/// An encoder that uses a number of bytes for every image, and records it as a negative number among those of the
/// decodes.
private struct HeavyEncoder: ImageEncoding {
    let byteCount: Int
    let codec: HeavyCodec

    var format: ImageFormat { ImageFormat(rawValue: "heavy") }

    func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int { byteCount }

    func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        codec.run(byteCount, recordedAs: -byteCount)
        return HeavyCodec.data(byteCount)
    }
}

/// A processor whose rows use a number of bytes beside a result of one pixel, and which records it as a negative number
/// when it processes an image.
private struct HeavyProcessor: ImageProcessing {
    let byteCount: Int
    let codec: HeavyCodec
    var decodingTarget: TargetSize?

    var identifier: String { "heavy(\(byteCount))" }

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        codec.run(byteCount, recordedAs: -byteCount)
        return image
    }

    func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { Rows(byteCount: byteCount, next: next) }

    private final class Rows: PixelRowConsumer {
        private let byteCount: Int
        private let next: any PixelRowConsumer

        init(byteCount: Int, next: any PixelRowConsumer) { (self.byteCount, self.next) = (byteCount, next) }

        func begin(_ header: PixelRowHeader) throws { try next.begin(header) }

        func consume(_ row: RawSpan) throws { try next.consume(row) }

        func finish() throws { try next.finish() }

        func byteCount(for header: PixelRowHeader) -> Int { byteCount }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct DecodingBudgetTests {
    private let executor = ManualExecutor()
    private let codec: HeavyCodec

    init() { codec = HeavyCodec(executor: executor) }

    private func pipeline(width: Int, turns: DecodingTurns? = nil) -> ImagePipeline {
        let downloader = FakeDownloader { request, _ in
            guard case .http(let http) = request.source else { throw CancellationError() }
            return Download(data: Data((http.url.lastPathComponent).utf8))
        }
        var configuration = ImagePipeline.Configuration(
            downloader: downloader, codecs: codec.registry, maxConcurrentDecodes: width,
            maximumDecodingByteCount: 100, taskExecutor: executor)
        configuration.decodingTurns = turns
        return ImagePipeline(configuration)
    }

    private func request(
        _ name: String, id: String, _ priority: LoadPriority = .normal, limit: Int = 1000, allowsPartial: Bool = false
    ) throws -> ImageRequest {
        // One resource would cause one decode.
        try web("\(id)/\(name)") {
            $0.priority = priority
            $0.decoding.limits.maximumByteCount = limit
            $0.decoding.allowsPartial = allowsPartial
        }
    }

    private func start(_ pipeline: ImagePipeline, _ request: ImageRequest) -> Task<Void, any Error> {
        Task(executorPreference: executor) { _ = try await pipeline.load(request) }
    }

    /// Loads an image of 60 bytes, and others while it is decoded. Each proceeds as far as possible before the next
    /// begins. Returns the numbers of bytes decoded before the first decode ended.
    private func decodes(
        by pipeline: ImagePipeline, during first: String = "60", of others: [ImageRequest]
    ) async throws -> [Int] {
        let loads = Watched<[Task<Void, any Error>]>([])
        let decoded = Watched<[Int]>([])
        codec.meanwhile.update {
            $0 = {
                for request in others {
                    let load = start(pipeline, request)
                    loads.update { $0.append(load) }
                    executor.drain()
                }
                decoded.update { $0 = codec.use.value.decoded }
            }
        }
        let load = start(pipeline, try request(first, id: "first"))
        executor.drain()
        try await load.value
        #expect(loads.value.count == others.count)
        for load in loads.value { try await load.value }
        return decoded.value
    }

    @Test(arguments: [ImageDecodingError.Code.decoderFailed, .decoderUnavailable, .timedOut, .outOfMemory])
    func `a decoder that fails while it counts the bytes is not called again`(
        code: ImageDecodingError.Code
    ) async throws {
        let load = start(pipeline(width: 1), try request("!\(code.rawValue)", id: "a"))
        executor.drain()

        let error = await #expect(throws: PipelineError.self) { try await load.value }

        #expect(error?.code == .decoding(code))
        #expect(codec.use.value.decoded == [])
    }

    @Test func `decodes over the budget run one after another`() async throws {
        let pipeline = pipeline(width: 4)
        let loads = try (0..<3).map { start(pipeline, try request("60", id: "\($0)")) }
        executor.drain()
        for load in loads { try await load.value }
        #expect(codec.use.value.most == 1)
        #expect(codec.use.value.decoded == [60, 60, 60])
    }

    @Test func `decodes within the budget run concurrently`() async throws {
        let pipeline = pipeline(width: 4)
        let loads = try (0..<2).map { start(pipeline, try request("50", id: "\($0)")) }
        executor.drain()
        for load in loads { try await load.value }
        #expect(codec.use.value.most == 2)
    }

    @Test func `an image is opened once, and once more after it has waited for the budget`() async throws {
        let pipeline = pipeline(width: 2)
        #expect(try await decodes(by: pipeline, of: [request("10", id: "b")]) == [60, 10])
        #expect(codec.use.value.opened == 2)

        #expect(try await decodes(by: pipeline, during: "61", of: [request("60", id: "c")]) == [60, 10, 61])
        #expect(codec.use.value.decoded == [60, 10, 61, 60])
        #expect(codec.use.value.opened == 5)
    }

    @Test func `waiting for the budget blocks no thread`() async throws {
        let waiting = try (0..<4).map { try request("60", id: "b\($0)") }
        let small = try request("20", id: "c", .veryHigh)

        // One of two threads is busy. If the waiters blocked the other, the last image would not be decoded.
        #expect(try await decodes(by: pipeline(width: 2), of: waiting + [small]) == [60, 20])
        #expect(codec.use.value.most == 2)
        #expect(codec.use.value.decoded == [60, 20, 60, 60, 60, 60])
    }

    @Test func `a group with a decode leaves a quarter of the budget to others`() async throws {
        let turns = DecodingTurns(maxConcurrentPerGroup: 2) {
            $0.url?.pathComponents.contains("other") == true ? "other" : "first"
        }
        let others = try [request("20", id: "b"), request("30", id: "other")]
        #expect(try await decodes(by: pipeline(width: 4, turns: turns), of: others) == [60, 30])
        #expect(codec.use.value.decoded == [60, 30, 20])
    }

    @Test func `a decode waits until it begins, and again while the budget lacks its bytes`() async throws {
        let waits = Watched<[Bool]>([])
        let turns = DecodingTurns(maxConcurrentPerGroup: 2) { _ in
            nil
        } onWait: { request, isWaiting in
            if request.url?.pathComponents.contains("b") == true { waits.update { $0.append(isWaiting) } }
        }
        #expect(try await decodes(by: pipeline(width: 2, turns: turns), of: [request("60", id: "b")]) == [60])
        #expect(waits.value == [true, false, true, false])
    }

    @Test func `an image that needs more than the whole budget is an error that names the limit`() async throws {
        let loads = try ["101", "100"].map { start(pipeline(width: 4), try request($0, id: "a")) }
        executor.drain()

        let error = await #expect(throws: PipelineError.self) { try await loads[0].value }
        #expect(error?.code == .decoding(.exceedsLimit))
        #expect(error?.message.contains("maximumDecodingByteCount") == true)
        try await loads[1].value
        #expect(codec.use.value.decoded == [100])
    }

    @Test func `the rows of a processor that reduces the image while it is decoded count in the budget`() async throws {
        let filter = HeavyProcessor(byteCount: 50, codec: codec, decodingTarget: TargetSize(width: 1, height: 1))
        let loads = try ["51", "50"].map { name in
            var request = try request(name, id: "a")
            request.processors = [filter]
            // The rows of an animation are not passed on.
            request.decoding.includesAnimation = false
            return start(pipeline(width: 4), request)
        }
        executor.drain()

        let error = await #expect(throws: PipelineError.self) { try await loads[0].value }
        #expect(error?.code == .decoding(.exceedsLimit))
        #expect(error?.message.contains("maximumDecodingByteCount") == true)
        try await loads[1].value
        #expect(codec.use.value.decoded == [50])
    }

    @Test func `damaged bytes count as the whole budget when the limits allow more`() async throws {
        let damaged = try request("%3F3", id: "a", limit: 5_000, allowsPartial: true)
        #expect(try await decodes(by: pipeline(width: 2), of: [damaged]) == [60])
        #expect(codec.use.value.decoded == [60, 3])
    }

    /// Starts other work while an image of 60 bytes is decoded and another one waits. Returns the numbers of bytes in
    /// the order of the work.
    private func numbers(
        with work: @escaping @Sendable (ImagePipeline) async throws -> Void
    ) async throws -> [Int] {
        let pipeline = pipeline(width: 4)
        let waiting = try request("60", id: "b")
        let tasks = Watched<[Task<Void, any Error>]>([])
        codec.meanwhile.update {
            $0 = {
                let load = start(pipeline, waiting)
                executor.drain()
                let other = Task(executorPreference: executor) { try await work(pipeline) }
                executor.drain()
                tasks.update { $0 = [load, other] }
            }
        }
        let first = start(pipeline, try request("60", id: "a"))
        executor.drain()
        try await first.value
        #expect(tasks.value.count == 2)
        for task in tasks.value { try await task.value }
        #expect(codec.use.value.most == 1)
        return codec.use.value.decoded
    }

    private func encode(_ byteCount: Int) async throws -> [Int] {
        let encoder = HeavyEncoder(byteCount: byteCount, codec: codec)
        return try await numbers { pipeline in
            let data = try await pipeline.encode(.gray(side: 1, level: 1), to: encoder)
            #expect(data == HeavyCodec.data(byteCount))
        }
    }

    private func process(_ byteCount: Int) async throws -> [Int] {
        let processor = HeavyProcessor(byteCount: byteCount, codec: codec)
        return try await numbers { pipeline in
            let source = ImageSource.image(.gray(side: 1, level: 1), identity: "a")
            _ = try await pipeline.load(ImageRequest(source: source, processors: [processor]))
        }
    }

    @Test(arguments: [60, 150])
    func `processing waits for the budget of the decodes, goes before those that wait, and is not limited by it`(
        byteCount: Int
    ) async throws {
        #expect(try await process(byteCount) == [60, -byteCount, 60])
    }

    @Test func `an encode waits for the budget of the decodes, and goes before those that wait`() async throws {
        #expect(try await encode(60) == [60, -60, 60])
    }

    @Test func `an encode that needs more than the whole budget is refused`() async throws {
        let pipeline = pipeline(width: 1)
        let encoder = HeavyEncoder(byteCount: 101, codec: codec)
        let encode = Task(executorPreference: executor) {
            try await pipeline.encode(.gray(side: 1, level: 1), to: encoder)
        }
        executor.drain()
        let error = await #expect(throws: ImageEncodingError.self) { try await encode.value }
        #expect(error?.code == .exceedsLimit)
        #expect(codec.use.value.decoded.isEmpty)
    }

    @Test func `a pipeline that was shut down encodes nothing`() async throws {
        let pipeline = pipeline(width: 1)
        let encoder = HeavyEncoder(byteCount: 1, codec: codec)
        let encode = Task(executorPreference: executor) {
            await pipeline.shutDown()
            return try await pipeline.encode(.gray(side: 1, level: 1), to: encoder)
        }
        executor.drain()
        let error = await #expect(throws: PipelineError.self) { try await encode.value }
        #expect(error?.code == .shutDown)
        #expect(codec.use.value.decoded.isEmpty)
    }

    @Test func `a load canceled while it waits for the budget is not decoded`() async throws {
        let pipeline = pipeline(width: 2)
        let cancelled = try request("70", id: "b")
        let second = Watched<Task<Void, any Error>?>(nil)
        codec.meanwhile.update {
            $0 = {
                let load = start(pipeline, cancelled)
                executor.drain()
                load.cancel()
                second.update { $0 = load }
            }
        }
        let first = start(pipeline, try request("60", id: "a"))
        executor.drain()
        try await first.value
        let load = try #require(second.value)
        await #expect(throws: CancellationError.self) { try await load.value }

        let third = start(pipeline, try request("20", id: "c"))
        executor.drain()
        try await third.value
        #expect(codec.use.value.decoded == [60, 20])
    }

    @Test func `bytes that cannot be inspected do not wait when no partial image is allowed`() async throws {
        // With the bytes of the largest image it would wait for the end of the first.
        let damaged = try request("%3F3", id: "b")
        #expect(try await decodes(by: pipeline(width: 2), of: [damaged]) == [60, 3])
    }

    @Test func `bytes that cannot be inspected count as the largest allowed image when a partial image is allowed`()
        async throws
    {
        let damaged = [
            try request("%3F3", id: "small", limit: 40, allowsPartial: true),
            try request("%3F4", id: "large", limit: 41, allowsPartial: true),
        ]
        #expect(try await decodes(by: pipeline(width: 2), of: damaged) == [60, 3])
        #expect(codec.use.value.decoded == [60, 3, 4])
    }
}
