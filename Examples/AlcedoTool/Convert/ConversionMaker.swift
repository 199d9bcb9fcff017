import Alcedo
import ExampleSupport
import FoundationEssentials

/// Writes an image in a format, with all that its encoder keeps.
struct ConversionMaker: FileMaking {
    let format: OutputFormat
    let encoder: any ImageEncoding
    /// What is done to the image first, in order.
    let processors: [any ImageProcessing]

    var fileExtension: String { format.fileExtension }

    var makesFrames: Bool { false }

    var tellsLosses: Bool { true }

    func make(
        _ request: ImageRequest, with tools: FileTools, into sink: FileSink, progress: @escaping BatchLoad.Progress
    ) async throws -> MadeImage {
        let original = try await tools.original(request, progress: progress)
        var request = original.request
        let exact = original.info.exactFormat
        request.decoding.pixelFormat = exact == .rgba16 && format != .png ? .rgba8 : exact
        request.decoding.includesAnimation = format.holdsAnimations
        request.processors += processors
        var image = try await tools.pipeline.load(request).image
        let frames = image.frames.map { StoppableFrames($0) }
        image.frames = frames
        let (count, losses) = try await withTaskCancellationHandler {
            try await tools.files.run { [image] in
                let data = try encode(image, frames)
                let losses = try tools.losses(from: original.info, image, in: data)
                try sink.write(data, frame: nil)
                return (data.count, losses)
            }
        } onCancel: {
            frames?.stop()
        }
        return MadeImage(
            size: image.size, layer: original.layer, bytesIn: original.byteCount, bytesOut: count, losses: losses)
    }

    /// Whoever has stopped the frames hears of that, and not of the encoder, which could not go on without them.
    private func encode(_ image: DecodedImage, _ frames: StoppableFrames?) throws -> Data {
        do {
            return try encoder.encode(image)
        } catch {
            throw frames?.isStopped == true ? CancellationError() : error
        }
    }
}
