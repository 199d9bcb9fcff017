import AlcedoCore

/// How long a transfer may take, in its parts.
struct CURLTimeouts: Sendable {
    let idle: Duration
    let firstByte: Duration?
    let total: Duration?

    init(_ request: HTTPRequest) {
        idle = min(request.idleTimeout, Self.longest)
        firstByte = request.firstByteTimeout.map { min($0, Self.longest) }
        total = request.totalTimeout.map { min($0, Self.longest) }
    }

    /// Four years: what is longer would not fit into an instant.
    private static let longest = Duration.seconds(1 << 27)
}
