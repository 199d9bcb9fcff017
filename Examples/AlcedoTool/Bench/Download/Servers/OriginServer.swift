import AlcedoTesting
import Foundation

/// The origin of AlcedoTesting, in a process of its own: HTTP/1.1 without TLS.
final class OriginServer: BenchServer {
    let name = "the built-in origin"
    let authorityFile: URL? = nil
    private let base: String
    private let process: BenchProcess

    init() throws {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        process = try BenchProcess(program, ["bench", "download", "--serve"])
        base = try process.readLine()
    }

    func base(for what: DownloadCase) -> String? { what.wire == .plain ? "\(base)/\(what.byteCount)?" : nil }

    /// What the process does: serves until its standard input ends.
    static func serve() throws {
        let bodies = Dictionary(
            uniqueKeysWithValues: [DownloadCase.small, DownloadCase.large].map { count in
                ("/\(count)", OriginReply.ok(Data(repeating: 7, count: count)))
            })
        let origin = try LoopbackOrigin { bodies[$0.path] ?? .status(404) }
        defer { origin.stop() }
        print(origin.url.absoluteString)
        fflush(nil)
        while Swift.readLine() != nil {}
    }
}
