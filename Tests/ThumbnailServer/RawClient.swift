import Alcedo
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials
import TestSupport

/// A client that says what it likes.
final class RawClient: Sendable {
    private struct Trouble: Error {
        var number: Int32
    }

    private static let threads = BlockingExecutor(name: "raw", width: 8)
    private let file: Int32

    init(port: Int) throws {
        file = socket(AF_INET, SocketType.stream | SocketType.closeOnExec, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Trouble(number: errno) }
    }

    deinit { close(file) }

    /// Sends what the other side takes.
    func send(_ text: String) async throws {
        try await Self.threads.run { [file] in
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let flags = Int32(MSG_NOSIGNAL)
                let count = rest.withUnsafeBytes { AlcedoLibc.send(file, $0.baseAddress, $0.count, flags) }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Says that nothing more comes.
    func finish() { shutdown(file, Int32(SHUT_WR)) }

    /// Ends the connection from both sides.
    func disconnect() { shutdown(file, Int32(SHUT_RDWR)) }

    /// All there is until the other side ends the connection.
    func readToEnd() async throws -> String {
        try await Self.threads.run { [file] in
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = recv(file, &buffer, buffer.count, 0), count > 0 { bytes += buffer[..<count] }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
