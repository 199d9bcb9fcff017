import Alcedo
import FoundationEssentials

/// Where results go; made when the first is written.
struct OutputFolder: Sendable {
    let url: URL

    func path(of name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

    /// Writes a file as a whole, and returns its path. Throws ``OutputError``, also where one of the inputs would be
    /// overwritten, by whatever name.
    @discardableResult
    func write(
        _ data: Data, named name: String, sparing inputs: Set<FileIdentity>
    ) throws(OutputError) -> String {
        let path = path(of: name)
        if let file = FileIdentity(path: path), inputs.contains(file) {
            throw OutputError(description: "\(path) is one of the images, and stays as it is")
        }
        do {
            let folder = url.path(percentEncoded: false)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try data.write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw OutputError(description: "cannot write \(path): \(error.localizedReason)")
        }
        return path
    }
}
