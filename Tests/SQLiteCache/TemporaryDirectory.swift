import FoundationEssentials

/// A directory of its own for one test, gone when the test lets go of it.
final class TemporaryDirectory: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "alcedo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var database: URL { url.appending(path: "alcedo.sqlite") }
    var log: URL { url.appending(path: "alcedo.sqlite-wal") }

    /// Removes the database and its helpers under the feet of whoever has them open.
    func removeDatabase() throws {
        for name in ["alcedo.sqlite", "alcedo.sqlite-wal", "alcedo.sqlite-shm"] {
            try FileManager.default.removeItem(at: url.appending(path: name))
        }
    }
}
