import Alcedo
import ExampleSupport
import FoundationEssentials

/// Where files that are made of images go, as `--output` says.
enum FilePlace: Sendable {
    case standardOutput
    /// One file of this name, whatever its image is called.
    case file(String)
    /// Under the images' names.
    case folder(String)

    /// - Parameters:
    ///   - formats: What a file may be written in, for people; nil where only a folder makes sense.
    ///   - isFile: Whether a name is one for a file.
    /// - Throws: ``UsageError`` for the name of an image in another format, which nobody gives a folder.
    init(_ text: String, formats: String? = nil, isFile: (String) -> Bool = { _ in false }) throws {
        if text == "-" {
            self = .standardOutput
        } else if Self.isFolder(text) {
            self = .folder(text)
        } else if isFile(text) {
            self = .file(text)
        } else if FileEnding.isImage(text) {
            throw UsageError(
                formats.map { "'\(text)' is no name for \($0)" } ?? "--output is a folder here; '\(text)/' would be one"
            )
        } else {
            self = .folder(text)
        }
    }

    /// Whether there is such a folder, or the text can mean nothing else.
    private static func isFolder(_ text: String) -> Bool {
        var isFolder = false
        return text.hasSuffix("/") || FileManager.default.fileExists(atPath: text, isDirectory: &isFolder) && isFolder
    }
}
