import AlcedoTesting
import Foundation

/// A server of bodies of the measured sizes.
protocol BenchServer: Sendable {
    var name: String { get }
    /// The PEM file of the certificates to trust; nil without TLS.
    var authorityFile: URL? { get }
    /// Returns the prefix of the URLs of a case, which a number completes; nil if the server does not support the case.
    func base(for downloadCase: DownloadCase) -> String?
}

/// A case of the download benchmark: the protocol, the size of the bodies, and the number of connections.
struct DownloadCase: Sendable {
    enum WireProtocol: String, Sendable {
        case plain = "plain HTTP/1.1"
        case secure = "HTTP/1.1 over TLS"
        case multiplexed = "HTTP/2 over TLS"
    }

    static let (small, medium, large) = (4 << 10, 64 << 10, 1 << 20)
    /// The numbers of bytes of the bodies.
    static let sizes = [small, medium, large]

    static let all = [WireProtocol.plain, .secure, .multiplexed].flatMap { wireProtocol in
        [(small, 8), (small, 64), (medium, 8), (large, 8)].map {
            DownloadCase(wireProtocol: wireProtocol, byteCount: $0, connections: $1)
        }
    }

    static var names: String { all.map { "'\($0.name)'" }.joined(separator: ", ") }

    let wireProtocol: WireProtocol
    /// The number of bytes of each body.
    let byteCount: Int
    /// The number of connections; with HTTP/2, the number of concurrent transfers on one connection.
    let connections: Int

    /// The number of concurrent requests. It exceeds the number of connections, so that no connection is idle.
    var maxConcurrentRequests: Int { connections * 4 }

    var name: String { "\(byteCount >> 10) KB x \(connections), \(wireProtocol.rawValue)" }
}

/// The origin of AlcedoTesting in a separate process, with HTTP/1.1 and without TLS.
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

    func base(for downloadCase: DownloadCase) -> String? {
        downloadCase.wireProtocol == .plain ? "\(base)/\(downloadCase.byteCount)?" : nil
    }

    /// Serves until standard input ends. Runs in the separate process.
    static func serve() throws {
        let bodies = Dictionary(
            uniqueKeysWithValues: DownloadCase.sizes.map { count in
                ("/\(count)", OriginReply.ok(Data(repeating: 7, count: count)))
            })
        let origin = try LoopbackOrigin { bodies[$0.path] ?? .status(404) }
        defer { origin.stop() }
        print(origin.url.absoluteString)
        fflush(nil)
        while Swift.readLine() != nil {}
    }
}
