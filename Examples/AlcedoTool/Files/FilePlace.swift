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

    /// - Parameter isFile: Whether a name is one for a file.
    init(_ text: String, isFile: (String) -> Bool) {
        var isFolder = false
        let isThere = FileManager.default.fileExists(atPath: text, isDirectory: &isFolder)
        if text == "-" {
            self = .standardOutput
        } else if isFile(text), !(isThere && isFolder), !text.hasSuffix("/") {
            self = .file(text)
        } else {
            self = .folder(text)
        }
    }
}
