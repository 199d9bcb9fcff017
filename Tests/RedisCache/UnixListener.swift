import AlcedoLibc

/// A listening socket on a path.
enum UnixListener {
    private struct SystemError: Error {
        var number: Int32
    }

    /// Returns the descriptor, which the caller closes.
    static func open(_ path: String, blocks: Bool) throws -> Int32 {
        let flags = SocketType.closeOnExec | (blocks ? 0 : SocketType.nonBlocking)
        let listener = socket(AF_UNIX, SocketType.stream | flags, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(listener, 64) == 0 else { throw SystemError(number: errno) }
        return listener
    }
}
