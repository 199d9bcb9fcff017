import Alcedo
import Foundation
@testable import FuzzServer

/// The entry point that libFuzzer calls with every input: bytes that a client sends to the server.
///
/// The server parses them as it does in the program, with the rules of signatures and of the parameters of thumbnails.
/// Each connection must end, and a well-formed request must then receive its response.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    _ = server.exchange(Array(UnsafeBufferPointer(start: bytes, count: count)))
    runs += 1
    if runs % 64 == 0 {
        let response = server.exchange(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        guard response.starts(with: Array("HTTP/1.1 404".utf8)) else { fatalError("the server does not respond") }
    }
    return 0
}

private nonisolated(unsafe) var runs = 0
private let server = Server()

/// A server whose thumbnails are empty.
private struct Server {
    private let server: HTTPServer

    init() {
        do {
            server = try HTTPServer(.init(), handler: Handler())
        } catch {
            fatalError("\(error)")
        }
    }

    /// Sends bytes on a connection of their own, and returns what the server sends until it closes the connection.
    func exchange(_ bytes: [UInt8]) -> [UInt8] {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(client) }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        // Each client address has ports of its own, and ports of ended connections stay in use for a minute.
        call(bind, client, address: UInt32.random(in: 0x7F00_0002..<0x7FFF_FFFF), port: 0)
        call(connect, client, address: 0x7F00_0001, port: UInt16(server.port))
        _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        shutdown(client, Int32(SHUT_WR))
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = recv(client, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN { fatalError("a connection does not end") }
            guard count > 0 else { return received }
            received += buffer[..<count]
        }
    }

    private func call(
        _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ socket: Int32, address host: UInt32,
        port: UInt16
    ) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { fatalError("a socket fails with \(errno)") }
    }
}

private struct Handler: HTTPHandling {
    private static let signature = URLSignature(key: Array("0123456789abcdef".utf8))

    func respond(to head: RequestHead) -> HandlerResult {
        do throws(HTTPError) {
            guard head.path == ThumbnailQuery.path else { throw HTTPError(404, "not found") }
            let items = try QueryItems(head.query)
            let query = try ThumbnailQuery(items, accept: head.accept, maximumSide: 4096)
            _ = query.key
            try Self.signature.check(path: head.path, items, now: Date(timeIntervalSince1970: 1e9))
            return .response(ServerResponse(status: 200))
        } catch {
            return .response(error.response)
        }
    }

    func overloadResponse() -> ServerResponse { HTTPError.overloaded.response }

    func timeoutResponse(to head: RequestHead) -> ServerResponse { HTTPError.timedOut.response }

    func requestEnded(_ head: RequestHead, status: Int?, byteCount: Int, duration: Duration) {}
}
