import Alcedo
import ExampleSupport

/// Writes an image in a format, with all that its encoder keeps.
struct ConversionMaker: FileMaking {
    let format: OutputFormat
    let encoder: any ImageEncoding
    /// What is done to the image first, in order.
    let processors: [any ImageProcessing]

    var fileExtension: String { format.fileExtension }

    var makesFrames: Bool { false }

    func make(
        _ request: ImageRequest, with tools: FileTools, into sink: FileSink, progress: @escaping BatchLoad.Progress
    ) async throws -> MadeImage {
        let original = try await tools.original(request, progress: progress)
        var request = original.request
        let exact = original.info.exactFormat
        request.decoding.pixelFormat = exact == .rgba16 && format != .png ? .rgba8 : exact
        request.decoding.includesAnimation = format.holdsAnimations
        request.processors += processors
        let image = try await tools.pipeline.load(request).image
        let (count, losses) = try await tools.files.run {
            let data = try encoder.encode(image)
            let losses = Loss.between(original.info, image, try tools.codecs.inspect(data))
            try sink.write(data, frame: nil)
            return (data.count, losses)
        }
        return MadeImage(
            size: image.size, layer: original.layer, bytesIn: original.byteCount, bytesOut: count, losses: losses)
    }
}
