import FoundationEssentials
import TestSupport

extension TemporaryDirectory {
    var database: URL { url.appending(path: "alcedo.sqlite") }
    var log: URL { url.appending(path: "alcedo.sqlite-wal") }

    /// Removes the database and its auxiliary files while they are open.
    func removeDatabase() throws {
        for name in ["alcedo.sqlite", "alcedo.sqlite-wal", "alcedo.sqlite-shm"] {
            try FileManager.default.removeItem(at: url.appending(path: name))
        }
    }
}
