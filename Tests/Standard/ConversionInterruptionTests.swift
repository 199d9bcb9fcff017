import Alcedo
#if AVIF
    import AlcedoAVIF
#endif
#if JXL
    import AlcedoJXL
#endif
import AlcedoProgramSupport
import AlcedoRuntime
#if TIFF
    import AlcedoTIFF
#endif
import AlcedoTesting
import Dispatch
import Foundation
import TestSupport
import Testing

/// Conversions from and to each format that are canceled, or that time out, at random points. With the address
/// sanitizer, they show what a decoder or an encoder releases too early.
@Suite(.timeLimit(.minutes(15)))
struct ConversionInterruptionTests {
    private typealias Variant = ImageConverter.Variant

    /// The way in which a conversion ends early.
    enum Ending: CaseIterable {
        case cancellation, timeout

        func isExpected(_ error: any Error) -> Bool {
            switch self {
            case .cancellation: error is CancellationError
            case .timeout: (error as? ImageConversionError)?.code == .timedOut
            }
        }
    }

    /// The names of the sources.
    static let sources: [String] = {
        var names = ["jpeg", "progressive jpeg", "turned jpeg", "png", "webp", "lossless webp", "gif", "bmp"]
        names += ["animated gif", "animated webp", "animated png"]
        #if AVIF
            names += ["avif", "animated avif"]
        #endif
        #if JXL
            names += ["jxl", "animated jxl"]
        #endif
        #if SVG
            names += ["svg"]
        #endif
        #if TIFF
            names += ["tiff"]
        #endif
        return names
    }()

    private static let encoders: [ImageEncoder] = {
        var encoders: [ImageEncoder] = [
            .jpeg(), .jpeg(isProgressive: true), .png(), .png(maximumColorCount: 16, isInterlaced: true), .gif(),
            .webp(), .webp(lossless: true),
        ]
        #if AVIF
            encoders.append(.avif(speed: 10))
        #endif
        #if JXL
            encoders.append(.jxl(effort: 3))
        #endif
        #if TIFF
            encoders.append(.tiff())
        #endif
        return encoders
    }()

    private let directory: TemporaryDirectory
    private let pipeline: ImagePipeline
    private let queue: ImageConversionQueue

    init() throws {
        directory = try TemporaryDirectory()
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.maximumDecodingByteCount = 256 << 20
        pipeline = ImagePipeline(configuration)
        queue = ImageConversionQueue(maxConcurrentConversions: 2, sharingBudgetOf: pipeline)
    }

    // MARK: Sources

    private func data(_ name: String) throws -> Data {
        let photo = try CodecRegistry.standard.decode(SampleImages.data("dunes.jpg"))
        var image = try ImageProcessors.BuiltIn.resize(exactly: PixelSize(width: 150, height: 101)).process(photo)
        image.colorProfile = nil
        if name.hasPrefix("animated") {
            let turned = try ImageProcessors.BuiltIn.flip(.leftAndRight).process(image).pixels
            image.frames = MadeFrames(
                image.size, (0..<5).map { ($0 % 2 == 0 ? image.pixels : turned, .milliseconds(100)) })
        }
        switch name {
        case "jpeg": return try ImageEncoder.jpeg().encode(image)
        case "progressive jpeg": return try ImageEncoder.jpeg(isProgressive: true).encode(image)
        case "turned jpeg":
            image.orientation = .right
            return try ImageEncoder.jpeg().encode(image)
        case "png", "animated png": return try ImageEncoder.png().encode(image)
        case "webp", "animated webp": return try ImageEncoder.webp().encode(image)
        case "lossless webp": return try ImageEncoder.webp(lossless: true).encode(image)
        case "gif", "animated gif": return try ImageEncoder.gif().encode(image)
        case "bmp": return Self.bitmap(image.pixels)
        #if AVIF
            case "avif", "animated avif": return try ImageEncoder.avif(speed: 10).encode(image)
        #endif
        #if JXL
            case "jxl", "animated jxl": return try ImageEncoder.jxl(effort: 3).encode(image)
        #endif
        #if TIFF
            case "tiff": return try ImageEncoder.tiff().encode(image)
        #endif
        default:
            return Data(
                """
                <svg xmlns="http://www.w3.org/2000/svg" width="150" height="101">\
                <circle cx="75" cy="50" r="40" fill="red"/></svg>
                """.utf8)
        }
    }

    /// Returns an uncompressed bitmap with 24 bits a pixel, whose rows begin at the bottom.
    private static func bitmap(_ pixels: PixelBuffer) -> Data {
        func bytes(_ values: Int..., width: Int) -> [UInt8] {
            values.flatMap { value in (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        }
        let rowBytes = (pixels.width * 3 + 3) / 4 * 4
        let size = rowBytes * pixels.height
        var file = Array("BM".utf8) + bytes(54 + size, 0, 54, 40, pixels.width, pixels.height, width: 4)
        file += bytes(1, 24, width: 2) + bytes(0, size, 2_835, 2_835, 0, 0, width: 4)
        for y in (0..<pixels.height).reversed() {
            pixels.row(y).withUnsafeBytes { row in
                for x in 0..<pixels.width {
                    for channel in [2, 1, 0] { file.append(row[4 * x + channel]) }
                }
            }
            file += Array(repeating: 0, count: rowBytes - 3 * pixels.width)
        }
        return Data(file)
    }

    @Test(arguments: sources)
    func `each source is an image of its format, and an animation if its name says so`(name: String) throws {
        let info = try CodecRegistry.programs.inspect(data(name))
        #expect(name.hasSuffix(info.format.rawValue))
        #expect((info.frameCount > 1) == name.hasPrefix("animated"))
        #expect(info.size == PixelSize(width: 150, height: 101))
    }

    // MARK: Interruptions

    private func converter(_ clock: any TimeSource = SystemClock()) -> ImageConverter {
        ImageConverter(codecs: .programs, queue: queue, clock: clock)
    }

    /// A variant that reports each row, or each frame of an animation, before it is encoded.
    private func variant(_ encoder: ImageEncoder, _ interruption: Interruption) -> Variant {
        let reporting: any ImageProcessing = .everyFrame(Reporting(interruption: interruption))
        return Variant(encoder, processors: [.resize(width: 100), reporting])
    }

    /// Runs a conversion that ends early at a point. Records an issue if it succeeds, or if it leaves a place in the
    /// queue, a reservation, a sleeper, or an object.
    private func interrupted(
        at point: Int, by ending: Ending,
        _ convert: @escaping @Sendable (ImageConverter, Interruption) async throws -> Void
    ) async throws {
        weak var released: Interruption?
        let clock = ManualClock()
        do {
            let interruption = Interruption(at: point)
            released = interruption
            let converter = converter(clock)
            let conversion = Task { try await convert(converter, interruption) }
            interruption.act {
                switch ending {
                case .cancellation: conversion.cancel()
                case .timeout:
                    Interruption.wait { clock.sleeperCount > 0 }
                    clock.advance(by: .seconds(10))
                }
            }
            switch await conversion.result {
            case .success: Issue.record("the conversion succeeded after its end by \(ending) at \(point)")
            case .failure(let error): #expect(ending.isExpected(error), "\(error) after \(ending) at \(point)")
            }
        }
        #expect(queue.conversionCount == 0)
        #expect(pipeline.decodingBudget.bytes.reservedByteCount == 0)
        #expect(clock.sleeperCount == 0)
        // The task may be released after its value was returned.
        try await eventually { released == nil }
    }

    @Test(arguments: sources, Ending.allCases)
    func `a conversion that ends at a random row or frame leaves nothing behind`(
        name: String, ending: Ending
    ) async throws {
        let file = directory.url.appending(path: "source").resolvingSymlinksInPath()
        try data(name).write(to: file)
        var random = SeededGenerator(seed: 61)
        for encoder in Self.encoders {
            let all = Interruption()
            let variants = [variant(encoder, all), Variant(.resize(width: 30), .png())]
            func convert() async throws -> [Data] {
                try await converter().convert(contentsOf: file, to: variants, placeholders: .blurHash)
                    .variants.map(\.data)
            }
            let expected = try await convert()
            let count = all.passCount
            try #require(count >= 1)
            for _ in 0..<3 {
                try await interrupted(at: Int.random(in: 0..<count, using: &random), by: ending) {
                    [self] converter, interruption in
                    _ = try await converter.convert(
                        contentsOf: file, timeout: .seconds(10),
                        to: [variant(encoder, interruption), Variant(.resize(width: 30), .png())],
                        placeholders: .blurHash)
                }
                #expect(Self.descriptorCount(of: file) == 0)
            }
            // libavif writes the time of the encode into an animation.
            if encoder.format.rawValue != "avif" || !name.hasPrefix("animated") {
                #expect(try await convert() == expected)
            }
        }
    }

    // The last piece completes the file.
    @Test(arguments: [ImageEncoder.jpeg(), .png(), .webp(), .gif()], Ending.allCases)
    func `a conversion that ends at a random piece of its result leaves nothing behind`(
        encoder: ImageEncoder, ending: Ending
    ) async throws {
        // PNG of more than 4 MiB of pixels is passed on in several pieces.
        let source = try ImageEncoder.png().encode(.coordinates(PixelSize(width: 1_200, height: 1_000)))
        let all = Interruption()
        _ = try await converter().convert(source, to: Variant(encoder)) { _ in all.pass() }
        let count = all.passCount
        try #require(count >= 1)
        var random = SeededGenerator(seed: 61)
        for point in [0, count - 1, Int.random(in: 0..<count, using: &random)] {
            try await interrupted(at: point, by: ending) { converter, interruption in
                _ = try await converter.convert(source, timeout: .seconds(10), to: Variant(encoder)) { _ in
                    interruption.pass()
                }
            }
        }
    }

    @Test(arguments: sources)
    func `conversions that end at random times succeed or throw, and leave nothing behind`(
        name: String
    ) async throws {
        let source = try data(name)
        var expected: [[Data]] = []
        for encoder in Self.encoders {
            let variants = [Variant(.resize(width: 100), encoder), Variant(.resize(width: 30), encoder)]
            expected.append(try await converter().convert(source, to: variants).variants.map(\.data))
        }
        var random = SeededGenerator(seed: 62)
        var conversions: [(task: Task<[Data], any Error>, index: Int, end: @Sendable () -> Void)] = []
        for _ in 0..<3 * Self.encoders.count {
            let (index, clock) = (Int.random(in: Self.encoders.indices, using: &random), ManualClock())
            let (encoder, converter) = (Self.encoders[index], converter(clock))
            let task = Task {
                let variants = [Variant(.resize(width: 100), encoder), Variant(.resize(width: 30), encoder)]
                return try await converter.convert(source, timeout: .seconds(10), to: variants).variants.map(\.data)
            }
            let isTimeout = Bool.random(using: &random)
            conversions.append((task, index, { isTimeout ? clock.advance(by: .seconds(10)) : task.cancel() }))
            for _ in 0..<Int.random(in: 0...40, using: &random) { await letOthersRun() }
            conversions[Int.random(in: conversions.indices, using: &random)].end()
        }

        for (task, index, _) in conversions {
            do {
                #expect(try await task.value == expected[index])
            } catch {
                #expect(Ending.allCases.contains { $0.isExpected(error) }, "\(error)")
            }
        }
        #expect(queue.conversionCount == 0)
        #expect(pipeline.decodingBudget.bytes.reservedByteCount == 0)
    }

    /// Returns the number of descriptors of a file that this process has open.
    private static func descriptorCount(of file: URL) -> Int {
        let directory = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.count { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\(name)")) == file.path
        }
    }
}

/// The point at which a conversion ends early.
private final class Interruption: Sendable {
    private let passes = Locked(0)
    private let point: Int?
    private let action = Locked<(@Sendable () -> Void)?>(nil)

    /// Creates a point after as many rows, frames or pieces, or one that is never reached.
    init(at point: Int? = nil) { self.point = point }

    /// The number of rows, frames or pieces so far.
    var passCount: Int { passes.withLock { $0 } }

    /// Sets the action that ends the conversion.
    func act(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

    /// Counts a row, a frame or a piece on the thread of the conversion. At the point, runs the action once it is set,
    /// and returns when the conversion knows of its end.
    func pass() {
        let isPoint = passes.withLock { count in
            defer { count += 1 }
            return count == point
        }
        guard isPoint else { return }
        Self.wait { action.withLock { $0 != nil } }
        // The action refers to the task, which refers to this object.
        let end = action.withLock { action in
            defer { action = nil }
            return action
        }
        end?()
        Self.wait { BlockingExecutor.isWorkCanceled }
    }

    /// Blocks until a condition holds that another thread fulfills.
    static func wait(until condition: () -> Bool) {
        let never = DispatchSemaphore(value: 0)
        while !condition() { _ = never.wait(timeout: .now() + .milliseconds(1)) }
    }
}

/// A processor that leaves images as they are, and reports each row, or each image as a whole.
private struct Reporting: ImageProcessing {
    let interruption: Interruption

    var identifier: String { "reporting" }

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        interruption.pass()
        return image
    }

    func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
        ReportingRows(interruption: interruption, next: next)
    }
}

private final class ReportingRows: PixelRowConsumer {
    private let interruption: Interruption
    private let next: any PixelRowConsumer

    init(interruption: Interruption, next: any PixelRowConsumer) {
        (self.interruption, self.next) = (interruption, next)
    }

    func begin(_ header: PixelRowHeader) throws { try next.begin(header) }

    func consume(_ row: RawSpan) throws {
        interruption.pass()
        try next.consume(row)
    }

    func finish() throws { try next.finish() }

    func byteCount(for header: PixelRowHeader) -> Int { next.byteCount(for: header) }
}
