import AlcedoCore
import AlcedoLibc

/// The folder that entries are written in, held open from one to the next: opening it costs as much as a twentieth of a
/// store of a few KB.
final class UnfinishedFolder: Sendable {
    private let path: String
    private let opened = Locked<OpenFolder?>(nil)

    init(_ path: String) { self.path = path }

    /// Makes an empty file.
    func makeFile() throws(SystemRefusal) -> UnfinishedFile {
        if let held = opened.withLock({ $0 }) {
            do throws(SystemRefusal) {
                return try UnfinishedFile(in: held)
            } catch {
                // Somebody has removed the folder; another one may have its name.
                guard error.number == ENOENT else { throw error }
            }
        }
        forget()
        let folder = try OpenFolder(path)
        opened.withLock { $0 = folder }
        return try UnfinishedFile(in: folder)
    }

    /// Opens it anew for the next file: it may be another one now.
    func forget() { opened.withLock { $0 = nil } }
}
