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
