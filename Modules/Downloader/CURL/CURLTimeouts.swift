import AlcedoCore

/// How long a transfer may take, in its parts.
struct CURLTimeouts: Sendable {
    let idle: Duration
    let firstByte: Duration?
    let total: Duration?

    init(_ request: HTTPRequest) {
        (idle, firstByte, total) = (request.idleTimeout, request.firstByteTimeout, request.totalTimeout)
    }
}
