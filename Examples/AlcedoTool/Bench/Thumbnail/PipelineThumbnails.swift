import Alcedo
import FoundationEssentials

/// Makes thumbnails of files by a pipeline that keeps nothing.
struct PipelineThumbnails {
    static let side = 320

    private let pipeline: ImagePipeline
    private let width: Int

    /// - Parameter width: Threads that decode and resize.
    init(width: Int) {
        self.width = width
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.memoryCache = nil
        configuration.decodingWidth = width
        // libwebp would take a thread more.
        let decoder = WebPDecoder(usesThreads: false)
        for index in configuration.codecs.entries.indices where configuration.codecs.entries[index].format == .webp {
            configuration.codecs.entries[index].decoder = decoder
        }
        pipeline = ImagePipeline(configuration)
    }

    func make(_ paths: [String]) async throws -> ThumbnailTime {
        let requests = paths.map { Self.request(.file($0)) }
        return try await ThumbnailTime.of {
            try await pipeline.loadAll(requests, width: width == 1 ? 1 : 2 * width) { _, result in
                _ = try result.get()
            }
        }
    }

    static func request(_ source: ImageSource) -> ImageRequest {
        let size = PixelSize(width: side, height: side)
        return ImageRequest(
            source: source, processors: [Resize(to: size)], decoding: DecodingOptions(target: TargetSize(size)))
    }
}
