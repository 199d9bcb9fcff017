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
}
