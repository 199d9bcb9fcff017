package import FoundationEssentials
private import AlcedoLibc

/// A directory of its own for one test, removed with everything in it when the test lets go of it.
package final class TemporaryDirectory: Sendable {
    package let url: URL

    package init() throws {
        url = Self.all.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// What a cache writes after the last of its tests' folders has gone, goes with the process.
    private static let all: URL = {
        atexit { try? FileManager.default.removeItem(at: TemporaryDirectory.all) }
        return FileManager.default.temporaryDirectory.appending(path: "alcedo-tests-\(getpid())")
    }()

    package var path: String { url.path }
}
