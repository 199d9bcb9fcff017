package import FoundationEssentials
private import AlcedoLibc

/// A temporary directory for one test, removed with its contents when it is released.
package final class TemporaryDirectory: Sendable {
    package let url: URL

    package init() throws {
        url = Self.all.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The parent directory is removed with the process, including files that a cache writes after its test.
    private static let all: URL = {
        atexit { try? FileManager.default.removeItem(at: TemporaryDirectory.all) }
        return FileManager.default.temporaryDirectory.appending(path: "alcedo-tests-\(getpid())")
    }()

    package var path: String { url.path }
}
