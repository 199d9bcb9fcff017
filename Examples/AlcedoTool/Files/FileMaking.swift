import Alcedo
import ExampleSupport

/// Makes files of an image: a thumbnail, the same in another format, its pixels.
protocol FileMaking: Sendable {
    /// Ends the names of the files, without a dot.
    var fileExtension: String { get }
    /// Whether there may be a file for each frame.
    var makesFrames: Bool { get }
    /// Whether a person is told of each image what its file does not keep, and not in sum only.
    var tellsLosses: Bool { get }

    /// Loads the image, and writes what is made of it.
    func make(
        _ request: ImageRequest, with tools: FileTools, into sink: FileSink, progress: @escaping BatchLoad.Progress
    ) async throws -> MadeImage
}

/// What was made of an image.
struct MadeImage: Sendable {
    /// Of the files, in pixels.
    var size: PixelSize
    var layer: ImageResponse.Layer
    /// Encoded bytes that were read.
    var bytesIn: Int
    /// Bytes that were written.
    var bytesOut: Int
    /// The frame in each file; nil: the image.
    var frames: [Int?] = [nil]
    var losses: [Loss] = []
    /// False when an interruption has come between the frames.
    var isWhole = true
}
