import Alcedo
import AlcedoProgramSupport
import FoundationEssentials

/// The destination of output files that `--output` specifies.
enum OutputDestination: Sendable {
    case standardOutput
    /// A single file at this path.
    case file(String)
    /// A directory, in which files have the names of their images.
    case directory(String)

    /// Parses the value of `--output`: `-` is standard output, the name of a file in an accepted format is a file, and
    /// any other text is a directory. The path of an existing directory and a text that ends with a slash are always
    /// directories.
    ///
    /// - Parameters:
    ///   - text: The value of the option.
    ///   - formats: The names of the accepted formats, for messages, or nil if only a directory is accepted.
    ///   - isFile: Returns whether a text is the name of a file in an accepted format. Default: returns false for every
    ///     text.
    /// - Throws: ``UsageError`` if the text has the file extension of an image but not of an accepted format. Such a
    ///   text is unlikely to mean a directory.
    init(_ text: String, formats: String? = nil, isFile: (String) -> Bool = { _ in false }) throws {
        if text == "-" {
            self = .standardOutput
        } else if Self.isDirectory(text) {
            self = .directory(text)
        } else if isFile(text) {
            self = .file(text)
        } else if ImageFileExtension.isImage(text) {
            throw UsageError(
                formats.map { "the extension of '\(text)' does not match \($0)" }
                    ?? "--output needs a directory; write '\(text)/' for a new one"
            )
        } else {
            self = .directory(text)
        }
    }

    /// Whether the text is the path of an existing directory, or ends with a slash.
    private static func isDirectory(_ text: String) -> Bool {
        var isDirectory = false
        return text.hasSuffix("/")
            || FileManager.default.fileExists(atPath: text, isDirectory: &isDirectory) && isDirectory
    }
}

/// The file extensions of images, including formats that the tool does not write.
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
