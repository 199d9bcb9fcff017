import AlcedoLibc
import FoundationEssentials

/// A blocking socket that says exactly what it is told to, closed when it goes.
final class RawClient {
    private let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, SocketType.stream, 0)
        // A test that waits for bytes that never come fails instead of hanging.
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Errno(number: errno) }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = AlcedoLibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Ends the client's side of the connection. It can still receive.
    func endSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next bytes; nil at an orderly end. Throws the error number, such as ECONNRESET.
    func receive(max: Int = 1 << 16) throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: max)
        let count = recv(descriptor, &buffer, max, 0)
        guard count >= 0 else { throw Errno(number: errno) }
        return count == 0 ? nil : Array(buffer[..<count])
    }

    /// Exactly this many bytes, or fewer when the connection ends.
    func receive(exactly count: Int) throws -> String {
        var bytes: [UInt8] = []
        while bytes.count < count, let more = try receive(max: count - bytes.count) { bytes += more }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Everything until the other side ends the connection.
    func receiveAll() throws -> String {
        var bytes: [UInt8] = []
        while let more = try receive() { bytes += more }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A head, its empty line included.
    func receiveHead() throws -> String {
        var text = ""
        while !text.hasSuffix("\r\n\r\n"), let byte = try receive(max: 1) {
            text += String(decoding: byte, as: UTF8.self)
        }
        return text
    }

    struct Errno: Error, Equatable {
        let number: Int32
    }
}
