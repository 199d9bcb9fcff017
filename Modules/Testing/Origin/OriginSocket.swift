import AlcedoLibc
import FoundationEssentials

/// A non-blocking TCP socket. Its owner must close it.
struct OriginSocket {
    enum Transfer: Equatable {
        case bytes(Int)
        /// No byte can be transferred now.
        case wouldBlock
        /// The peer has ended its side.
        case inputEnded
        /// The connection is broken.
        case ended
    }

    let descriptor: Int32

    /// Returns a socket that listens on a free port of an IPv4 address, by default 127.0.0.1, and the port.
    static func listen(on address: UInt32 = 0x7F00_0001) throws -> (socket: OriginSocket, port: UInt16) {
        let (listener, port) = try bound(to: address)
        guard AlcedoLibc.listen(listener.descriptor, 512) == 0 else {
            defer { listener.close() }
            throw OriginError.last("listen")
        }
        return (listener, port)
    }

    /// Returns a socket that is bound to a free port of an IPv4 address, by default 127.0.0.1, and does not listen, and
    /// the port.
    static func bound(to address: UInt32 = 0x7F00_0001) throws -> (socket: OriginSocket, port: UInt16) {
        // Close-on-exec keeps the socket out of programs that the process starts.
        let flags = SocketType.nonBlocking | SocketType.closeOnExec
        let descriptor = socket(AF_INET, SocketType.stream | flags, 0)
        guard descriptor >= 0 else { throw OriginError.last("socket") }
        let owner = OriginSocket(descriptor: descriptor)
        do {
            return (owner, try owner.bindToFreePort(of: address))
        } catch {
            owner.close()
            throw error
        }
    }

    private func bindToFreePort(of number: UInt32) throws -> UInt16 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = number.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard bind(descriptor, generic, length) == 0 else { throw OriginError.last("bind") }
                guard getsockname(descriptor, generic, &length) == 0 else { throw OriginError.last("getsockname") }
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Accepts the next connection. Returns nil if none is pending, or if the connection or the listener has failed.
    ///
    /// - Throws: ``OriginError`` if no descriptor or no memory is available.
    func accept() throws -> OriginSocket? {
        let accepted = AlcedoLibc.accept(descriptor, nil, nil)
        guard accepted >= 0 else {
            if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { throw OriginError.last("accept") }
            return nil
        }
        let connection = OriginSocket(descriptor: accepted)
        guard (try? connection.configure()) != nil else {
            connection.close()
            return nil
        }
        var one: Int32 = 1
        // Without this option, a small response waits for the acknowledgment of the previous one. A failure only costs
        // time.
        _ = setsockopt(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        return connection
    }

    private func configure() throws {
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
            throw OriginError.last("fcntl")
        }
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .inputEnded }
            if errno == EINTR { continue }
            return errno == EAGAIN ? .wouldBlock : .ended
        }
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        while true {
            // Without `MSG_NOSIGNAL`, sending to a closed peer raises a signal that ends the process.
            let count = AlcedoLibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return .bytes(count) }
            if errno == EINTR { continue }
            return errno == EAGAIN ? .wouldBlock : .ended
        }
    }

    /// Ends the sending side in an orderly way. The receiving side stays open.
    func finish() { _ = AlcedoLibc.shutdown(descriptor, Int32(SHUT_WR)) }

    /// Shuts down both sides for all owners of the socket, without closing it.
    func shutDown() { _ = AlcedoLibc.shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Makes `close` end the connection with a reset.
    func resetOnClose() {
        var off = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &off, socklen_t(MemoryLayout<linger>.size))
    }

    func close() { _ = AlcedoLibc.close(descriptor) }
}

/// An error of a ``LoopbackOrigin`` or a ``ClosedPort``. Their initializers throw it.
package struct OriginError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A description of the error. If a system call failed, it contains the name of the call and the system's
    /// description.
    package let message: String

    package var description: String { message }

    /// Creates an error from `errno`.
    static func last(_ call: String) -> OriginError {
        OriginError(message: "\(call) failed: \(String(cString: strerror(errno)))")
    }
}
