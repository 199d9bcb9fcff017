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

    func make(
        _ request: ImageRequest, with tools: FileTools, into sink: FileSink, progress: @escaping BatchLoad.Progress
    ) async throws -> MadeImage {
        let size = PixelSize(width: side, height: side)
        var request = request
        request.decoding.target = TargetSize(size)
        request.decoding.includesAnimation = false
        request.processors += [Resize(to: size)] + processors
        let response = try await tools.pipeline.load(request, progress: progress)
        let count = try await tools.files.run {
            let data = try encoder.encode(response.image)
            try sink.write(data, frame: nil)
            return data.count
        }
        return MadeImage(
            size: response.image.size, layer: tools.layers.layer(of: request),
            bytesIn: response.encodedByteCount ?? 0, bytesOut: count)
    }
}
