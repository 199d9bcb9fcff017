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
