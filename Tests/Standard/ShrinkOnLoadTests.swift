import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Images decoded toward the target of ``ImageProcessors/Resize``, compared with the same images decoded at full size.
@Suite(.timeLimit(.minutes(10)))
struct ShrinkOnLoadTests {
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
        configuration.intermediateByteLimit = 0
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
                try #require(shrunk.size == expected.size, comment)
                try #require(shrunk.pixels.format == expected.pixels.format, comment)
                let difference = ImageDifference(shrunk.pixels, expected.pixels)
                #expect(difference.mean <= (isReduced ? 0.75 : 0), "\(comment): \(difference)")
                #expect(difference.shareWithinLimit >= 0.999, "\(comment): \(difference)")
            }
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
}
