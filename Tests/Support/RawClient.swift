import AlcedoLibc
import AlcedoRuntime

/// A connected socket for exact bytes, closed when it is released. Its calls block, except those that are asynchronous.
package final class RawClient: Sendable {
    /// An error number of the system, such as `ECONNRESET`.
    package struct Errno: Error, Equatable {
        package let number: Int32

        package init(number: Int32) { self.number = number }
    }

    private static let readers = BlockingExecutor(name: "raw clients", maxConcurrent: 8)
    private let descriptor: Int32

    package init(port: Int) throws {
        descriptor = socket(AF_INET, SocketType.stream | SocketType.closeOnExec, 0)
        // Without a timeout a test that waits for missing bytes would hang.
        var limit = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Errno(number: errno) }
    }

    deinit { close(descriptor) }

    /// Sends the text, or as much of it as the other side accepts before it closes the connection.
    package func send(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let flags = Int32(MSG_NOSIGNAL)
            let count = rest.withUnsafeBytes { AlcedoLibc.send(descriptor, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Closes the sending side.
    package func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closes both sides.
    package func disconnect() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Ends the client's side of the connection. It can still receive.
    package func endSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Returns the next bytes; nil at an orderly end. Throws ``Errno``.
    package func receive(max: Int = 1 << 16) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: max)
        let count = recv(descriptor, &buffer, max, 0)
        guard count >= 0 else { throw Errno(number: errno) }
        return count == 0 ? nil : Array(buffer[..<count])
    }

    /// Returns exactly this many bytes, or fewer when the connection ends.
    package func receive(exactly count: Int) throws -> String {
        var bytes: [UInt8] = []
        while bytes.count < count, let more = try receive(max: count - bytes.count) { bytes += more }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns everything until the orderly end of the connection.
    package func receiveAll() throws -> String {
        var bytes: [UInt8] = []
        while let more = try receive() { bytes += more }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a head, its empty line included.
    package func receiveHead() throws -> String {
        var text = ""
        while !text.hasSuffix("\r\n\r\n"), let byte = try receive(max: 1) {
            text += String(decoding: byte, as: UTF8.self)
        }
        return text
    }

    /// Returns everything until the connection ends, orderly or not. Holds no thread of the cooperative pool.
    package func readToEnd() async throws -> String {
        try await Self.readers.run { [self] in
            var bytes: [UInt8] = []
            while let more = try? receive() { bytes += more }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
