import AlcedoTesting
import Foundation

/// Serves bodies of the sizes that are measured.
protocol BenchServer: Sendable {
    var name: String { get }
    /// The certificates to trust, in PEM; nil where there is no TLS.
    var authorityFile: URL? { get }
    /// What a number is put behind to make the URL of a body; nil for a case that the server has no part in.
    func base(for what: DownloadCase) -> String?
}

/// What is fetched, how, and over how many connections.
struct DownloadCase: Sendable {
    enum Wire: String, Sendable {
        case plain = "plain HTTP/1.1"
        case secure = "HTTP/1.1 over TLS"
        case multiplexed = "HTTP/2 over TLS"
    }

    static let small = 4 << 10
    static let large = 200 << 10

    static let all = [Wire.plain, .secure, .multiplexed].flatMap { wire in
        [(small, 8), (small, 64), (large, 8)].map { DownloadCase(wire: wire, byteCount: $0, connections: $1) }
    }

    static var names: String { all.map { "'\($0.name)'" }.joined(separator: ", ") }

    let wire: Wire
    /// Of each body.
    let byteCount: Int
    /// Under HTTP/2, transfers at once on one connection.
    let connections: Int

    /// Requests under way, so that whoever has a free connection has work for it.
    var width: Int { connections * 4 }

    var name: String { "\(byteCount >> 10) KB x \(connections), \(wire.rawValue)" }
}

/// The origin of AlcedoTesting, in a process of its own: HTTP/1.1 without TLS.
final class OriginServer: BenchServer {
    let name = "the built-in origin"
    let authorityFile: URL? = nil
    private let base: String
    private let process: BenchProcess

    init() throws {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        process = try BenchProcess(program, ["download", "--serve"])
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
