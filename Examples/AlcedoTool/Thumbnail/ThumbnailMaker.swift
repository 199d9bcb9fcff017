import Alcedo
import ExampleSupport

/// Makes a small picture of an image, decoded at about its size.
struct ThumbnailMaker: FileMaking {
    /// Longest side in pixels. Smaller images stay as they are.
    let side: Int
    /// What is done to the thumbnail then, in order.
    let processors: [any ImageProcessing]
    let encoder: any ImageEncoding
    let fileExtension: String

    var makesFrames: Bool { false }

    /// That a small still picture is neither large nor moving is no news.
    var tellsLosses: Bool { false }

    func make(
        _ request: ImageRequest, with tools: FileTools, into sink: FileSink, progress: @escaping BatchLoad.Progress
    ) async throws -> MadeImage {
        let size = PixelSize(width: side, height: side)
        let original = try await tools.original(request, progress: progress)
        var request = original.request
        request.decoding.target = TargetSize(size)
        request.decoding.includesAnimation = false
        request.processors += [Resize(to: size)] + processors
        let image = try await tools.pipeline.load(request).image
        let (count, losses) = try await tools.files.run {
            let data = try encoder.encode(image)
            let losses = try tools.losses(from: original.info, image, in: data)
            try sink.write(data, frame: nil)
            return (data.count, losses)
        }
        return MadeImage(
            size: image.size, layer: original.layer, bytesIn: original.byteCount, bytesOut: count, losses: losses)
    }
}
