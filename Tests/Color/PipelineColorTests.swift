import AlcedoCodecs
import AlcedoColor
import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct PipelineColorTests {
    /// Loads only sources that contain their bytes.
    private struct BytesDownloader: Downloading {
        func download(
            _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
        ) async throws -> Download {
            guard case .bytes(let data, _) = request.source else { throw CancellationError() }
            return Download(data: data)
        }
    }

    private struct Log: PipelineObserving {
        let words = Watched<[String]>([])

        func pipelineDidReport(_ event: PipelineEvent) {
            switch event.stage {
            case .colorConverted(let space): words.update { $0.append(space.rawValue) }
            case .colorProfileIgnored(let error): words.update { $0.append("ignored \(error.code)") }
            default: break
            }
        }
    }

    private let log = Log()
    private let metrics = PipelineMetrics()
    private let pipeline: ImagePipeline
    private let p3 = ProfileMaker.matrix(
        ProfileMaker.p3Colorants, curve: ProfileMaker.curve(1_024, ProfileMaker.light)
    ).data

    init() {
        pipeline = ImagePipeline(
            .init(
                downloader: BytesDownloader(), codecs: .standard, colorConverter: LittleCMSColorConverter(),
                observers: [log, metrics]))
    }

    private func request(_ profile: Data?, _ space: OutputColorSpace = .sRGB) throws -> ImageRequest {
        // WebP keeps a profile as it is.
        let file = try ImageEncoder.webp(lossless: true).encode(image([200, 100, 50, 255], profile: profile))
        var request = ImageRequest(source: .bytes(file, identity: "photo"))
        request.colorSpace = space
        return request
    }

    @Test func `an image is converted to sRGB by default`() async throws {
        let result = try await pipeline.load(request(p3)).image
        let expected = try LittleCMSColorConverter().converted(image([200, 100, 50, 255], profile: p3))
        #expect(result.pixels == expected.pixels)
        #expect(result.colorProfile == nil)
        #expect(log.words.value == ["srgb"])
        #expect(metrics.snapshot.colorConversions.count == 1)
        #expect(metrics.snapshot.ignoredColorProfiles == 0)
    }

    @Test func `a request can ask for Display P3 or the color space of the file`() async throws {
        let wide = try await pipeline.load(request(nil, .displayP3)).image
        #expect(wide.colorProfile == OutputColorSpace.displayP3.colorProfile)
        #expect(wide.samples != [200, 100, 50, 255])
        let kept = try await pipeline.load(request(p3, .embedded)).image
        #expect(kept.colorProfile == p3)
        #expect(kept.samples == [200, 100, 50, 255])
        #expect(log.words.value == ["display-p3"])
    }

    @Test func `the color space is part of the key, and sRGB is the original`() throws {
        let keys = try OutputColorSpace.allCases.map { try request(nil, $0).key }
        #expect(Set(keys).count == 3)
        #expect(try request(nil).key.variant.isEmpty)
        #expect(try request(nil, .displayP3).key.variant == "16:color=display-p3")
    }

    @Test func `a broken profile is reported and ignored`() async throws {
        let result = try await pipeline.load(request(Data("broken".utf8))).image
        #expect(result.samples == [200, 100, 50, 255])
        #expect(result.colorProfile == nil)
        #expect(log.words.value == ["ignored invalidProfile"])
        #expect(metrics.snapshot.colorConversions.count == 0)
        #expect(metrics.snapshot.ignoredColorProfiles == 1)
    }

    @Test func `sRGB is neither converted nor reported`() async throws {
        let sRGB = ProfileMaker.matrix(
            ProfileMaker.sRGBColorants, curve: ProfileMaker.curve(1_024, ProfileMaker.light)
        ).data
        #expect(try await pipeline.load(request(sRGB)).image.samples == [200, 100, 50, 255])
        #expect(try await pipeline.load(request(nil)).image.samples == [200, 100, 50, 255])
        #expect(log.words.value.isEmpty)
    }

    @Test func `an image from the app is converted, too`() async throws {
        let source = ImageSource.image(try image([200, 100, 50, 255], profile: p3), identity: "made")
        let result = try await pipeline.load(ImageRequest(source: source)).image
        #expect(result.samples != [200, 100, 50, 255])
        #expect(result.colorProfile == nil)
    }

    @Test func `encoders write the profile of what they hold`() throws {
        let wide = try LittleCMSColorConverter().converted(image([200, 100, 50, 255], profile: nil), to: .displayP3)
        for encoder: ImageEncoder in [.png(), .jpeg(), .webp(), .gif()] {
            let written = try CodecRegistry.standard.inspect(encoder.encode(wide))
            #expect(written.metadata.colorProfile == OutputColorSpace.displayP3.colorProfile)
        }
    }
}
