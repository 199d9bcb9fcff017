import Alcedo
import AlcedoProgramSupport
import FoundationEssentials

/// Where files that are made of images go, as `--output` says.
enum OutputDestination: Sendable {
    case standardOutput
    /// One file of this name, whatever its image is called.
    case file(String)
    /// Under the images' names.
    case directory(String)

    /// - Parameters:
    ///   - formats: What a file may be written in, for people; nil where only a folder makes sense.
    ///   - isFile: Whether a name is one for a file.
    /// - Throws: ``UsageError`` for the name of an image in another format, which nobody gives a folder.
    init(_ text: String, formats: String? = nil, isFile: (String) -> Bool = { _ in false }) throws {
        if text == "-" {
            self = .standardOutput
        } else if Self.isDirectory(text) {
            self = .directory(text)
        } else if isFile(text) {
            self = .file(text)
        } else if ImageFileExtension.isImage(text) {
            throw UsageError(
                formats.map { "'\(text)' is no name for \($0)" } ?? "--output is a folder here; '\(text)/' would be one"
            )
        } else {
            self = .directory(text)
        }
    }

    /// Whether there is such a folder, or the text can mean nothing else.
    private static func isDirectory(_ text: String) -> Bool {
        var isDirectory = false
        return text.hasSuffix("/")
            || FileManager.default.fileExists(atPath: text, isDirectory: &isDirectory) && isDirectory
    }
}

/// Names that end as those of image files do, of formats that are not written here too.
enum ImageFileExtension {
    private static let images: Set = [
        "apng", "avif", "bmp", "dng", "eps", "exr", "gif", "heic", "heif", "ico", "j2k", "jfif", "jp2", "jpe", "jpeg",
        "jpg", "jxl", "pam", "pbm", "pcx", "pdf", "pgm", "png", "pnm", "ppm", "psd", "qoi", "rgba", "svg", "tga", "tif",
        "tiff", "webp", "xcf",
    ]

    static func isImage(_ path: String) -> Bool {
        let name = PathParts.name(of: path)
        return name.lastIndex(of: ".").map { images.contains(name[name.index(after: $0)...].lowercased()) } ?? false
    }
}
