import AlcedoLibc
import FoundationEssentials

/// A non-blocking TCP socket. Whoever holds it closes it.
struct OriginSocket {
    enum Transfer: Equatable {
        case bytes(Int)
        /// Nothing can be moved now.
        case wouldBlock
        /// The other side sends no more.
        case inputEnded
        /// The connection is broken.
        case ended
    }

    let descriptor: Int32

    /// Listens on 127.0.0.1, on a free port.
    static func listen() throws -> (socket: OriginSocket, port: UInt16) {
        let (listener, port) = try bound()
        guard AlcedoLibc.listen(listener.descriptor, 512) == 0 else {
            defer { listener.close() }
            throw OriginError.last("listen")
        }
        return (listener, port)
    }

    /// Has a free port of 127.0.0.1, where it does not listen.
    static func bound() throws -> (socket: OriginSocket, port: UInt16) {
        // A program that is started meanwhile gets no copy.
        let flags = SocketType.nonBlocking | SocketType.closeOnExec
        let descriptor = socket(AF_INET, SocketType.stream | flags, 0)
        guard descriptor >= 0 else { throw OriginError.last("socket") }
        let owner = OriginSocket(descriptor: descriptor)
        do {
            return (owner, try owner.bindToFreePort())
        } catch {
            owner.close()
            throw error
        }
    }

    private func bindToFreePort() throws -> UInt16 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard bind(descriptor, generic, length) == 0 else { throw OriginError.last("bind") }
                guard getsockname(descriptor, generic, &length) == 0 else { throw OriginError.last("getsockname") }
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// The next connection, or nil when none waits.
    ///
    /// - Throws: ``OriginError`` when there are no descriptors or no memory for one.
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
        // Without it a small answer waits for the acknowledgement of the one before. Failing costs time only.
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
            // A closed peer is an answer here, not a signal that ends the process.
            let count = AlcedoLibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return .bytes(count) }
            if errno == EINTR { continue }
            return errno == EAGAIN ? .wouldBlock : .ended
        }
    }

    /// Ends this side in order; the other may still be read.
    func finish() { _ = AlcedoLibc.shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends both sides for everyone who holds the socket, without closing it.
    func shutDown() { _ = AlcedoLibc.shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Makes `close` end the connection by a reset.
    func resetOnClose() {
        var off = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &off, socklen_t(MemoryLayout<linger>.size))
    }

    func close() { _ = AlcedoLibc.close(descriptor) }
}

/// The reason why a ``LoopbackOrigin`` could not start.
package struct OriginError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The system call that failed, and the system's words.
    package let message: String

    package var description: String { message }

    /// Takes the reason from `errno`.
    static func last(_ call: String) -> OriginError {
        OriginError(message: "\(call): \(String(cString: strerror(errno)))")
    }
}
