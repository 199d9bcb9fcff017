import Alcedo
import AlcedoRuntime
import AlcedoTesting
import Dispatch
import Foundation
import TestSupport
import Testing

/// Cancellation, timeouts, queues and budgets of conversions.
@Suite(.timeLimit(.minutes(5)))
struct ConversionControlTests {
    private typealias Variant = ImageConverter.Variant

    private static let size = PixelSize(width: 64, height: 64)
    private static let signature: [UInt8?] = [0x89, 0x50, 0x4E, 0x47]

    private let file: Data

    init() throws { file = try ImageEncoder.png().encode(.coordinates(Self.size)) }

    /// Returns a decoder that stops before its first row until `gate` is signaled or the conversion is canceled.
    private func stopping(at gate: DispatchSemaphore) -> (decoder: WatchedDecoder, begun: Watched<Int>) {
        let begun = Watched(0)
        let isFirst = Locked(true)
        let decoder = WatchedDecoder(PNGDecoder()) {
            let waits = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard waits else { return }
            begun.update { $0 += 1 }
            while !BlockingExecutor.isWorkCanceled, gate.wait(timeout: .now() + .milliseconds(1)) == .timedOut {}
        }
        return (decoder, begun)
    }

    private func converter(
        _ decoder: WatchedDecoder, _ queue: ImageConversionQueue = ImageConversionQueue(),
        clock: any TimeSource = SystemClock()
    ) -> ImageConverter {
        ImageConverter(codecs: decoder.codecs(for: .png, signature: Self.signature), queue: queue, clock: clock)
    }

    // MARK: Cancellation

    @Test func `a canceled conversion ends at the next row with CancellationError`() async throws {
        let (decoder, begun) = stopping(at: DispatchSemaphore(value: 0))
        let queue = ImageConversionQueue()
        let converter = converter(decoder, queue)
        let several = Task { try await converter.convert(file, to: [Variant(.jpeg()), Variant(.webp())]) }
        try await begun.waitUntil { $0 == 1 }

        several.cancel()

        await #expect(throws: CancellationError.self) { try await several.value }
        #expect(decoder.calls.value.rows == 0)
        #expect(queue.conversionCount == 0)
    }

    @Test func `a canceled conversion to one format never succeeds`() async throws {
        let (decoder, begun) = stopping(at: DispatchSemaphore(value: 0))
        let converter = converter(decoder)
        let conversion = Task { try await converter.convert(file, to: .jpeg()) }
        try await begun.waitUntil { $0 == 1 }

        conversion.cancel()

        await #expect(throws: CancellationError.self) { try await conversion.value }
    }

    /// Runs blocking work in a task that is canceled already.
    private func canceled<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try work()
        }.value
    }

    @Test func `each decoder with a hook ends in a canceled task`() async throws {
        let image = DecodedImage.coordinates(Self.size)
        let files = try [
            ImageEncoder.jpeg(), .jpeg(isProgressive: true), .jpeg(optimizesHuffman: true), .png(),
        ].map { try $0.encode(image) }
        for file in files + [try SampleImages.data("turned.jpg")] {
            let error = await #expect(throws: ImageDecodingError.self) {
                try await canceled { try CodecRegistry.standard.decode(file) }
            }
            #expect(error?.code == .decoderUnavailable)
            await #expect(throws: ImageDecodingError.self) {
                try await canceled { try CodecRegistry.standard.decodeRows(file, into: PixelRowCollector()) }
            }
            // A partial image would be taken for a damaged file.
            await #expect(throws: ImageDecodingError.self) {
                try await canceled {
                    try CodecRegistry.standard.decode(file, options: DecodingOptions(tolerance: .missingPixels))
                }
            }
        }
    }

    @Test(arguments: [
        ImageEncoder.jpeg(), .jpeg(isProgressive: true), .webp(), .webp(lossless: true), .gif(),
    ])
    func `each encoder with a hook ends in a canceled task`(encoder: ImageEncoder) async throws {
        let photo = try CodecRegistry.standard.decode(SampleImages.data("dunes.jpg"))
        await #expect(throws: ImageEncodingError.self) { try await canceled { try encoder.encode(photo) } }
        #expect(try encoder.encode(photo).count > 0)
    }

    /// Ten frames, of which the second one cancels the task that reads it.
    private struct CancelingFrames: ImageFrameSource {
        let canvasSize = PixelSize(width: 16, height: 16)
        let frameCount = 10
        let playCount: Int? = 1
        let cost = 0
        let reads = Watched<[Int]>([])

        func delay(at index: Int) -> Duration { .seconds(1) }

        func rawDelay(at index: Int) -> Duration { .seconds(1) }

        func frame(at index: Int) throws -> PixelBuffer {
            reads.update { $0.append(index) }
            if index == 1 { withUnsafeCurrentTask { $0?.cancel() } }
            return DecodedImage.gray(side: 16, level: UInt8(20 * index)).pixels
        }
    }

    private struct MovingDecoder: ImageDecoding {
        let frames: CancelingFrames

        func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            let size = frames.canvasSize
            var image = DecodedImage.gray(side: size.width)
            image.frames = frames
            return WholeImageReader(ImageInfo(format: .png, size: size, frameCount: frames.frameCount)) { _ in image }
        }
    }

    @Test(arguments: [ImageEncoder.gif(), .webp(), .png()])
    func `an animation ends before the next frame`(encoder: ImageEncoder) async throws {
        let frames = CancelingFrames()
        let codecs = CodecRegistry([
            CodecRegistry.Entry(format: .png, decoder: MovingDecoder(frames: frames), signatures: [Self.signature])
        ])
        let conversion = Task { try { try ImageConverter(codecs: codecs).convert(file, to: encoder) }() }

        await #expect(throws: CancellationError.self) { try await conversion.value }
        #expect(frames.reads.value == [0, 1])
    }

    @Test func `the blocking method throws CancellationError in a canceled task, for all formats`() async throws {
        let encoders = [ImageEncoder.jpeg(), .png(), .gif(), .webp()]
        for source in try encoders.map({ try $0.encode(.coordinates(Self.size)) }) {
            for encoder in encoders {
                await #expect(throws: CancellationError.self) {
                    try await canceled { try ImageConverter().convert(source, to: encoder) }
                }
            }
        }
    }

    @Test func `conversions that are canceled at random points leave no place and no reservation`() async throws {
        let photo = try SampleImages.data("dunes.jpg")
        let pipeline = pipeline(limit: 64 << 20)
        let queue = ImageConversionQueue(maxConcurrentConversions: 2, sharingBudgetOf: pipeline)
        let converter = ImageConverter(queue: queue)
        let variants = [
            Variant(.resize(width: 300), .webp()), Variant(.resize(width: 100), .jpeg(isProgressive: true)),
        ]
        let expected = try await converter.convert(photo, to: variants).variants.map(\.data)
        var random = SeededGenerator(seed: 61)
        var tasks: [Task<[Data], any Error>] = []
        for _ in 0..<40 {
            let task = Task { try await converter.convert(photo, to: variants).variants.map(\.data) }
            tasks.append(task)
            for _ in 0..<Int.random(in: 0...40, using: &random) { await letOthersRun() }
            tasks[Int.random(in: tasks.indices, using: &random)].cancel()
        }

        for task in tasks {
            do {
                #expect(try await task.value == expected)
            } catch {
                #expect(error is CancellationError)
            }
        }
        #expect(queue.conversionCount == 0)
        #expect(pipeline.decodingBudget.bytes.reservedByteCount == 0)
    }

    @Test func `a pipeline's canceled decode is a CancellationError`() async throws {
        let (decoder, begun) = stopping(at: DispatchSemaphore(value: 0))
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.codecs = decoder.codecs(for: .png, signature: Self.signature)
        let pipeline = ImagePipeline(configuration)
        // More rows than are read at once.
        let large = try ImageEncoder.png().encode(.coordinates(PixelSize(width: 256, height: 2_048)))
        let request = ImageRequest(source: .bytes(large, identity: "a"), processors: [.resize(width: 8)])
        let load = Task { try await pipeline.load(request) }
        try await begun.waitUntil { $0 == 1 }

        load.cancel()

        await #expect(throws: CancellationError.self) { try await load.value }
        // The bytes are not considered damaged.
        #expect(try await pipeline.load(request).image.size.width == 8)
    }

    // MARK: Timeout

    @Test func `a timeout by the converter's clock cancels the conversion`() async throws {
        let (decoder, begun) = stopping(at: DispatchSemaphore(value: 0))
        let (queue, clock) = (ImageConversionQueue(), ManualClock())
        let converter = converter(decoder, queue, clock: clock)
        let conversion = Task { try await converter.convert(file, timeout: .seconds(10), to: [Variant(.jpeg())]) }
        try await begun.waitUntil { $0 == 1 }
        try await eventually { clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(9_999))
        #expect(queue.conversionCount == 1)

        clock.advance(by: .milliseconds(1))

        let error = await #expect(throws: ImageConversionError.self) { try await conversion.value }
        #expect(error?.code == .timedOut)
        #expect(decoder.calls.value.rows == 0)
        #expect(queue.conversionCount == 0)
    }

    @Test func `a conversion within its timeout succeeds`() async throws {
        let clock = ManualClock()
        let images = try await ImageConverter(clock: clock).convert(
            file, timeout: .seconds(1), to: [Variant(.jpeg())])
        #expect(images.variants.count == 1)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a timeout ends the read of a body`() async throws {
        let (body, chunks) = AsyncStream<Data>.makeStream()
        let clock = ManualClock()
        let isEnded = Watched(false)
        chunks.onTermination = { _ in isEnded.update { $0 = true } }
        let converter = ImageConverter(clock: clock)
        let conversion = Task {
            try await converter.convert(
                body, maximumByteCount: 1 << 20, timeout: .seconds(1), to: [Variant(.jpeg())])
        }
        chunks.yield(file.prefix(10))
        try await eventually { clock.sleeperCount == 1 }

        clock.advance(by: .seconds(1))

        let error = await #expect(throws: ImageConversionError.self) { try await conversion.value }
        #expect(error?.code == .timedOut)
        try await isEnded.waitUntil { $0 }
    }

    /// A body that ignores cancellation. A chunk arrives when its continuation is resumed.
    private struct HeedlessBody: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let reads = Watched<[CheckedContinuation<Data?, Never>]>([])

        func makeAsyncIterator() -> Self { self }

        func next() async -> Data? {
            await withCheckedContinuation { continuation in reads.update { $0.append(continuation) } }
        }
    }

    @Test(arguments: [false, true])
    func `a body that ignores cancellation delays no cancellation and no timeout`(isTimeout: Bool) async throws {
        weak var released: Watched<[CheckedContinuation<Data?, Never>]>?
        do {
            let (body, clock) = (HeedlessBody(), ManualClock())
            released = body.reads
            let conversion = Task {
                try await ImageConverter(clock: clock).convert(
                    body, maximumByteCount: 1 << 20, timeout: .seconds(1), to: [Variant(.jpeg())])
            }
            try await body.reads.waitUntil { $0.count == 1 }
            try await eventually { clock.sleeperCount == 1 }

            if isTimeout { clock.advance(by: .seconds(1)) } else { conversion.cancel() }

            switch await conversion.result {
            case .success: Issue.record("the conversion succeeded without a body")
            case .failure(let error as ImageConversionError): #expect(isTimeout && error.code == .timedOut)
            case .failure(let error): #expect(!isTimeout && error is CancellationError)
            }
            // The next chunk ends the read.
            body.reads.value[0].resume(returning: file.prefix(10))
        }
        try await eventually { released == nil }
    }

    // MARK: Queue

    @Test func `a full queue throws at once, and accepts conversions again when one has ended`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let (decoder, begun) = stopping(at: gate)
        let queue = ImageConversionQueue(maxConcurrentConversions: 1, maximumWaitingCount: 1)
        let converter = converter(decoder, queue)
        let running = Task { try await converter.convert(file, to: [Variant(.jpeg())]) }
        try await begun.waitUntil { $0 == 1 }
        let waiting = Task { try await converter.convert(file, to: .jpeg()) }
        try await eventually { queue.conversionCount == 2 }

        let error = await #expect(throws: ImageConversionError.self) { try await converter.convert(file, to: .png()) }
        #expect(error?.code == .queueFull)
        let reads = Watched(0)
        let body = AsyncStream<Data> {
            reads.update { $0 += 1 }
            return nil
        }
        await #expect(throws: ImageConversionError.self) {
            try await converter.convert(body, maximumByteCount: 1 << 20, to: [Variant(.png())])
        }
        #expect(reads.value == 0)

        gate.signal()
        #expect(try await running.value.variants[0].data == (try await waiting.value))
        #expect(queue.conversionCount == 0)
        #expect(try await converter.convert(file, to: .png()).count > 0)
    }

    @Test func `a conversion that is canceled while it waits leaves the queue`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let (decoder, begun) = stopping(at: gate)
        let queue = ImageConversionQueue(maxConcurrentConversions: 1)
        let converter = converter(decoder, queue)
        let running = Task { try await converter.convert(file, to: .jpeg()) }
        try await begun.waitUntil { $0 == 1 }
        let waiting = Task { try await converter.convert(file, to: .jpeg()) }
        try await eventually { queue.conversionCount == 2 }

        waiting.cancel()

        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(queue.conversionCount == 1)
        #expect(decoder.calls.value.opens == 1)
        gate.signal()
        _ = try await running.value
    }

    @Test func `limits below their minimum are raised to it`() async throws {
        let queue = ImageConversionQueue(maxConcurrentConversions: -1, maximumWaitingCount: -1)
        #expect(queue.maxConcurrentConversions == 1)
        #expect(queue.maximumWaitingCount == 0)
        #expect(try await ImageConverter(queue: queue).convert(file, to: .jpeg()).count > 0)
    }

    // MARK: Budget

    private func pipeline(limit: Int) -> ImagePipeline {
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.maximumDecodingByteCount = limit
        return ImagePipeline(configuration)
    }

    @Test func `a conversion waits for the budget of a pipeline`() async throws {
        let pipeline = pipeline(limit: 64 << 20)
        let (budget, limit) = pipeline.decodingBudget
        let queue = ImageConversionQueue(sharingBudgetOf: pipeline)
        let decoder = WatchedDecoder(PNGDecoder())
        let converter = converter(decoder, queue)
        #expect(budget.reserveNow(limit))
        let conversion = Task { try await converter.convert(file, to: [Variant(.webp())]) }
        try await decoder.calls.waitUntil { $0.opens == 1 }
        #expect(decoder.calls.value.decodes.isEmpty)

        budget.release(limit)

        #expect(try await conversion.value.variants.count == 1)
        #expect(budget.reservedByteCount == 0)
        // With bytes in the budget, the file is opened once.
        let before = decoder.calls.value.opens
        _ = try await converter.convert(file, to: .jpeg())
        #expect(decoder.calls.value.opens == before + 1)
    }

    @Test func `a file that changes while its conversion waits for the budget is converted as it was`() async throws {
        let pipeline = pipeline(limit: 64 << 20)
        let (budget, limit) = pipeline.decodingBudget
        let directory = try TemporaryDirectory()
        let upload = directory.url.appending(path: "upload.png")
        try file.write(to: upload)
        let decoder = WatchedDecoder(PNGDecoder())
        let converter = converter(decoder, ImageConversionQueue(sharingBudgetOf: pipeline))
        #expect(budget.reserveNow(limit))
        let conversion = Task { try await converter.convert(contentsOf: upload, to: [Variant(.webp())]) }
        try await decoder.calls.waitUntil { $0.opens == 1 }

        try ImageEncoder.png().encode(.coordinates(PixelSize(width: 512, height: 512))).write(to: upload)
        budget.release(limit)

        #expect(try await conversion.value.variants[0].size == Self.size)
    }

    @Test func `a conversion reserves no bytes before it has a place among the running ones`() async throws {
        let pipeline = pipeline(limit: 64 << 20)
        let (budget, limit) = pipeline.decodingBudget
        let reserved = Watched<Set<Int>>([])
        let decoder = WatchedDecoder(PNGDecoder()) { reserved.update { _ = $0.insert(budget.reservedByteCount) } }
        let queue = ImageConversionQueue(maxConcurrentConversions: 1, sharingBudgetOf: pipeline)
        let converter = converter(decoder, queue)
        #expect(budget.reserveNow(limit))
        let conversions = (0..<4).map { _ in Task { try await converter.convert(file, to: .webp()) } }
        try await decoder.calls.waitUntil { $0.opens == 1 }
        try await eventually { queue.conversionCount == 4 }

        budget.release(limit)

        for conversion in conversions { #expect(try await conversion.value.count > 0) }
        // Each conversion has seen its own bytes alone. The first was opened again when there were bytes for it.
        #expect(reserved.value.count == 1)
        #expect(decoder.calls.value.opens == 5)
        #expect(budget.reservedByteCount == 0)
    }

    @Test func `a running conversion holds bytes of the pipeline's budget until it ends`() async throws {
        let pipeline = pipeline(limit: 64 << 20)
        let (budget, limit) = pipeline.decodingBudget
        let gate = DispatchSemaphore(value: 0)
        let (decoder, begun) = stopping(at: gate)
        let converter = converter(decoder, ImageConversionQueue(sharingBudgetOf: pipeline))
        let conversion = Task { try await converter.convert(file, to: .webp()) }
        try await begun.waitUntil { $0 == 1 }

        let held = budget.reservedByteCount
        #expect(held > Self.size.pixelCount * 4)
        #expect(!budget.reserveNow(limit - held + 1))
        #expect(budget.reserveNow(limit - held))
        budget.release(limit - held)
        gate.signal()

        #expect(try await conversion.value.count > 0)
        #expect(budget.reservedByteCount == 0)
    }

    @Test func `a conversion that is canceled while it waits for the budget releases nothing`() async throws {
        let pipeline = pipeline(limit: 64 << 20)
        let (budget, limit) = pipeline.decodingBudget
        let decoder = WatchedDecoder(PNGDecoder())
        let converter = converter(decoder, ImageConversionQueue(sharingBudgetOf: pipeline))
        #expect(budget.reserveNow(limit))
        let conversion = Task { try await converter.convert(file, to: .webp()) }
        try await decoder.calls.waitUntil { $0.opens == 1 }

        conversion.cancel()

        await #expect(throws: CancellationError.self) { try await conversion.value }
        #expect(budget.reservedByteCount == limit)
        #expect(decoder.calls.value.decodes.isEmpty)
    }

    @Test func `a conversion that needs more than the whole budget of a pipeline is an error`() async throws {
        let size = PixelSize(width: 400, height: 400)
        let large = try ImageEncoder.png().encode(.coordinates(size))
        // The image alone fits, but not with its encoder, which needs more than 1 MB for the smallest image.
        let limit = 2_000_000
        let queue = ImageConversionQueue(sharingBudgetOf: pipeline(limit: limit))

        let error = await #expect(throws: ImageDecodingError.self) {
            try await ImageConverter(queue: queue).convert(large, to: .webp())
        }
        #expect(error?.code == .exceedsLimit)
        let small = try ImageEncoder.png().encode(.coordinates(PixelSize(width: 8, height: 8)))
        #expect(try await ImageConverter(queue: queue).convert(small, to: .webp()).count > 0)
    }
}
