import Alcedo
import Foundation

/// The pictures in a folder, by format.
struct ThumbnailFiles {
    let folder: URL
    /// In order of their names.
    let paths: [String]

    /// Throws ``BenchError`` when there are none.
    init(_ folder: URL) throws {
        self.folder = folder
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        paths = names.sorted().map { folder.appending(path: $0).path }
        guard !paths.isEmpty else { throw BenchError(description: "there are no pictures in \(folder.path)") }
    }

    func paths(of format: ImageFormat) -> [String] { paths.filter { $0.hasSuffix(".\(format)") } }
}
