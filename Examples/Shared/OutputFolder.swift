import Alcedo
import FoundationEssentials

/// Where results go; made when the first is written.
struct OutputFolder: Sendable {
    let url: URL

    func path(of name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

    /// Writes a file as a whole, and returns its path. Throws ``OutputError``.
    @discardableResult
    func write(_ data: Data, named name: String) throws(OutputError) -> String {
        let path = path(of: name)
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
