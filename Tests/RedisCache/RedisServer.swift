import FoundationEssentials
import Glibc
import TestSupport

@testable import AlcedoRedisCache

/// A Redis server of a test's own, on a socket in a folder of its own. Ends with this object.
final class RedisServer: Sendable {
    static let path = "/usr/bin/redis-server"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    private let folder: TemporaryDirectory
    private let options: [String]
    private let process: Guarded<ChildProcess?>

    /// - Parameter options: Of the server, besides those that keep it to itself.
    init(_ options: [String] = []) async throws {
        folder = try TemporaryDirectory()
        self.options = options
        process = Guarded(nil)
        try await start()
    }

    private var socket: String { folder.url.appending(path: "s").path }

    func start() async throws {
        unlink(socket)
        let words = ["--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", folder.path]
        let child = try ChildProcess(
            Self.path, words + options, folder: folder.path, input: .file("/dev/null"), output: .file("/dev/null"),
            problems: .file("/dev/null"))
        process.change { $0 = child }
        while (try? RedisConnection(cacheOptions())) == nil { try await Task.sleep(for: .milliseconds(5)) }
    }

    func kill() async throws {
        let child = process.change { child in
            defer { child = nil }
            return child
        }
        child?.send(SIGKILL)
        _ = try await child?.wait()
    }

    /// For a cache on this server that is patient enough for a busy machine.
    func cacheOptions(prefix: String = "test:", maximumEntryByteCount: Int = 16 << 20) -> RedisOptions {
        RedisOptions(
            address: .socket(socket), prefix: prefix, connectTimeout: .seconds(120), answerTimeout: .seconds(120),
            maximumEntryByteCount: maximumEntryByteCount)
    }
}
