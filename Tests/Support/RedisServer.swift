import AlcedoLibc
import AlcedoTesting
import FoundationEssentials

/// A Redis server for one test, on a socket in its own directory. Ends with this object.
package final class RedisServer: Sendable {
    private static let path = "/usr/bin/redis-server"
    package static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// The server has not begun to listen within two minutes.
    private struct Silent: Error {}

    private let directory: TemporaryDirectory
    private let options: [String]
    private let process: Watched<ChildProcess?>

    /// - Parameter options: Additional options of the server.
    package init(_ options: [String] = []) async throws {
        directory = try TemporaryDirectory()
        self.options = options
        process = Watched(nil)
        try await start()
    }

    /// The path of its socket.
    package var socket: String { directory.url.appending(path: "s").path }

    package func start() async throws {
        unlink(socket)
        let words = [
            "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", directory.path,
        ]
        let child = try ChildProcess(
            Self.path, words + options, directory: directory.path, input: .file("/dev/null"),
            output: .file("/dev/null"),
            problems: .file("/dev/null"))
        process.update { $0 = child }
        for _ in 0..<24_000 {
            if isListening { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw Silent()
    }

    package func kill() async throws {
        let child = process.update { child in
            defer { child = nil }
            return child
        }
        child?.send(SIGKILL)
        _ = try await child?.wait()
    }

    private var isListening: Bool {
        let file = AlcedoLibc.socket(AF_UNIX, SocketType.stream | SocketType.closeOnExec, 0)
        guard file >= 0 else { return false }
        defer { close(file) }
        return withUnixAddress(socket) { connect(file, $0, $1) == 0 } ?? false
    }
}
