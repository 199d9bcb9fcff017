import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Images decoded toward the target of ``ImageProcessors/Resize``, compared with the same images decoded at full size.
@Suite(.timeLimit(.minutes(10)))
struct ShrinkOnLoadTests {
    /// The difference between the samples of two images.
    private struct Difference: CustomStringConvertible {
        /// Of 255.
        let mean: Double
        /// The fraction of samples that differ by at most 24.
        let shareWithinLimit: Double
        /// The peak signal-to-noise ratio in dB.
        let ratio: Double

        var description: String { "mean \(mean), within 24: \(shareWithinLimit), \(ratio) dB" }

        init(_ a: PixelBuffer, _ b: PixelBuffer) {
            var (sum, count, within, squares) = (0, 0, 0, 0)
            for y in 0..<min(a.height, b.height) {
                a.row(y).withUnsafeBytes { a in
                    b.row(y).withUnsafeBytes { b in
                        // All are opaque pixels of four bytes, because alpha would lower the differences.
                        for index in 0..<min(a.count, b.count) where index % 4 != 3 {
                            let distance = abs(Int(a[index]) - Int(b[index]))
                            sum += distance
                            squares += distance * distance
                            count += 1
                            within += distance <= 24 ? 1 : 0
                        }
                    }
                }
            }
            mean = Double(sum) / Double(max(1, count))
            shareWithinLimit = Double(within) / Double(max(1, count))
            ratio = 10 * log10(255 * 255 * Double(max(1, count)) / Double(max(1, squares)))
        }
    }

    /// Records the sizes of decoded images.
    private struct DecodedSizes: PipelineObserving {
        let widths = Watched<[Int]>([])

        func pipelineDidReport(_ event: PipelineEvent) {
            if case .decoded(let size) = event.stage { widths.update { $0.append(size.width) } }
        }
    }

    /// Returns the image unchanged and needs its full size.
    private static let whole: any ImageProcessing = .closure(identifier: "whole") { $0 }
    private static let codecs = CodecRegistry.standard
    /// The encoded samples by name and format. Encoding takes most of the time of a test.
    private static let encoded = Watched<[String: Data]>([:])

    private let decoded = DecodedSizes()
    private let pipeline: ImagePipeline

    init() {
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.memoryCache = nil
        configuration.observers = [decoded]
        // Nothing that was decoded for one request is used for another.
        configuration.maximumIntermediateByteCount = 0
        pipeline = ImagePipeline(configuration)
    }

    /// Returns an image in a format, and its decoded form.
    private func data(_ name: String, as format: ImageFormat) throws -> Data {
        let jpeg = try SampleImages.data("\(name).jpg")
        guard format != .jpeg else { return jpeg }
        let key = "\(name).\(format.rawValue)"
        if let data = Self.encoded.value[key] { return data }
        let data = try #require(Self.codecs.encoder(for: format, quality: 0.8)).encode(try Self.codecs.decode(jpeg))
        Self.encoded.update { $0[key] = data }
        return data
    }

    private func image(_ data: Data, _ processors: any ImageProcessing...) async throws -> DecodedImage {
        try await pipeline.load(ImageRequest(source: .bytes(data, identity: "a"), processors: processors)).image
    }

    // Widths without a common factor leave fractions of pixels at the edges. A JPEG that is decoded smaller differs by
    // at most 0.75 of 255 in the mean, and by at most 24 in 99.9 % of the samples. The rows of other formats, and of
    // every image with the box filter, are filtered at full size, with an equal result.
    @Test(arguments: [ImageFormat.jpeg, .png, .gif, .webp], ResizeFilter.allCases)
    func `a thumbnail equals the full image reduced by the filter`(
        format: ImageFormat, filter: ResizeFilter
    ) async throws {
        let isDefault = filter == .lanczos3
        let more = format == .jpeg && isDefault ? ["dunes", "feathers", "sea", "relief"] : []
        for name in ["clouds", "forest", "turned"] + more {
            let data = try data(name, as: format)
            let full = try Self.codecs.inspect(data).uprightSize.width
            for width in isDefault ? [37, 80, 131, 200] : [37, 131] {
                let resize: ImageProcessors.BuiltIn = .resize(width: width, sampling: ResizeSampling(filter))
                let shrunk = try await image(data, resize)
                let expected = try await image(data, Self.whole, resize)

                #expect(decoded.widths.value.last == full)
                let isReduced = format == .jpeg && filter != .box
                if full > 10 * width, isReduced { #expect(decoded.widths.value.dropLast().last ?? 0 < full) }
                let comment: Comment = "\(name) to a width of \(width)"
                try #require(shrunk.size == expected.size && shrunk.pixels.format == expected.pixels.format, comment)
                let difference = Difference(shrunk.pixels, expected.pixels)
                #expect(difference.mean <= (isReduced ? 0.75 : 0), "\(comment): \(difference)")
                #expect(difference.shareWithinLimit >= 0.999, "\(comment): \(difference)")
            }
        }
    }

    /// A page of black strokes of one and two pixels, which look like text at this distance.
    private static func page() throws -> DecodedImage {
        let side = 1_440
        var ink = Set<[Int]>()
        var state: UInt64 = 5
        let random = { (range: Int) -> Int in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % range
        }
        for line in stride(from: 8, to: side - 16, by: 16) {
            for letter in stride(from: 20, to: side - 30, by: 8) where random(7) > 0 {
                let (row, column) = (random(9), random(5))
                for y in 0..<9 { ink.insert([letter + column, line + y]) }
                for x in 0..<6 { ink.insert([letter + x, line + row]) }
            }
        }
        let size = PixelSize(width: side, height: side)
        let pixels = PixelBuffer(size: size, format: .rgbx8, alphaMode: .opaque) { memory, bytesPerRow in
            memory.initializeMemory(as: UInt8.self, repeating: 255)
            for place in ink {
                for channel in 0..<3 { memory[place[1] * bytesPerRow + place[0] * 4 + channel] = 10 }
            }
        }
        return DecodedImage(pixels: try #require(pixels))
    }

    // A scaled transform of a JPEG clips the overshoot at sharp edges, so that text becomes thinner. Strokes without
    // soft edges are the worst case of text in black on white: drawn text has at least 44 dB.
    @Test(arguments: [ImageFormat.jpeg, .png, .gif, .webp])
    func `text stays as sharp as in the full image`(format: ImageFormat) async throws {
        let encoder: any ImageEncoding =
            switch format {
            case .jpeg: .jpeg(quality: 90)
            case .gif: .gif()
            case .webp: .webp(lossless: true)
            default: .png()
            }
        let data = try encoder.encode(try Self.page())
        for width in [100, 160, 240, 320, 400, 640] {
            let resized = try await image(data, .resize(width: width))
            let expected = try await image(data, Self.whole, .resize(width: width))

            let difference = Difference(resized.pixels, expected.pixels)
            #expect(difference.mean == 0 || format == .jpeg && difference.ratio >= 42, "\(width): \(difference)")
        }
    }

    @Test(arguments: ResizeMode.allCases, [false, true])
    func `the size equals that of the full image's result`(mode: ResizeMode, enlarges: Bool) async throws {
        let data = try data("feathers", as: .jpeg)
        for (width, height) in [(50, 70), (70, 50), (97, 97), (1, 300), (300, 1), (1_000, 2_000), (61, .max)] {
            let target = PixelSize(width: width, height: height)
            let resize = ImageProcessors.Resize(to: target, mode: mode, enlarges: enlarges)
            guard (try? resize.process(try Self.codecs.decode(data))) != nil else { continue }

            let shrunk = try await image(data, resize)

            #expect(shrunk.size == resize.resultSize(for: PixelSize(width: 960, height: 1_280)), "\(target)")
        }
    }

    @Test(arguments: [ImageFormat.gif, .webp])
    func `the frames of an animation are resized like single images`(
        format: ImageFormat
    ) async throws {
        var animation = try Self.codecs.decode(try data("clouds", as: .jpeg))
        let turned = try ImageProcessors.Flip(.leftAndRight).process(animation).pixels
        animation.frames = MadeFrames(
            animation.size,
            [(animation.pixels, .milliseconds(100)), (turned, .milliseconds(100))])
        let data = try #require(Self.codecs.encoder(for: format, quality: 0.8)).encode(animation)

        let shrunk = try await image(data, .resize(width: 90))
        let expected = try await image(data, Self.whole, .resize(width: 90))

        let frames = try #require(shrunk.frames)
        #expect(frames.frameCount == 2 && frames.canvasSize == shrunk.size && shrunk.size == expected.size)
        for index in 0..<2 {
            let other = try #require(try expected.frames?.frame(at: index))
            let difference = Difference(try frames.frame(at: index), other)
            #expect(difference.mean == 0, "\(difference)")
        }
    }
}
