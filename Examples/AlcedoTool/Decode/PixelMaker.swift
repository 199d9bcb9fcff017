import Alcedo
import ExampleSupport

/// Writes the pixels of an image, and of each frame of an animation.
struct PixelMaker: FileMaking {
    let file: PixelFile
    /// The only frame of animations that is wanted; nil: all.
    let frame: Int?
    /// Whether 16 bits become 8.
    let isShallow: Bool
    /// What is done to the image first, in order.
    let processors: [any ImageProcessing]

    var fileExtension: String { file.rawValue }

    var makesFrames: Bool { true }

    var tellsLosses: Bool { true }

    func make(
        _ request: ImageRequest, with tools: FileTools, into sink: FileSink, progress: @escaping BatchLoad.Progress
    ) async throws -> MadeImage {
        let original = try await tools.original(request, progress: progress)
        var request = original.request
        let exact = original.info.exactFormat
        request.decoding.pixelFormat = exact == .rgba16 && isShallow ? .rgba8 : exact
        request.processors += processors
        let image = try await tools.pipeline.load(request).image
        var made = MadeImage(
            size: image.size, layer: original.layer, bytesIn: original.byteCount, bytesOut: 0, frames: [])
        var losesAlpha = false
        // One after another: an animation of any length needs the memory of few frames.
        for frame in try frames(of: image) {
            do {
                let (count, isTransparent) = try await tools.files.run {
                    let pixels = try frame.flatMap { try image.frames?.frame(at: $0) } ?? image.pixels
                    let data = file.data(of: pixels)
                    try sink.write(data, frame: frame)
                    return (data.count, file == .ppm && pixels.hasTransparency)
                }
                made.frames.append(frame)
                made.bytesOut += count
                losesAlpha = losesAlpha || isTransparent
            } catch is CancellationError where sink.keepsEach && !made.frames.isEmpty {
                // The files of these frames are there.
                made.isWhole = false
                break
            }
        }
        made.losses = (losesAlpha ? [.alpha] : []) + (isShallow && exact == .rgba16 ? [.depth] : [])
        return made
    }

    /// The frames to write; nil among them is the image itself.
    private func frames(of image: DecodedImage) throws -> [Int?] {
        let count = image.frames?.frameCount ?? 1
        if let frame, frame >= count {
            throw OutputError(description: "there is no frame \(frame); the last is \(count - 1)")
        }
        guard image.isAnimated else { return [nil] }
        return frame.map { [$0] } ?? Array(0..<count)
    }
}
