import AlcedoLibc
import TestSupport

/// A listening socket on a path.
enum UnixListener {
    private struct SystemError: Error {
        var number: Int32
    }

    /// Returns the descriptor, which the caller closes.
    static func open(_ path: String, blocks: Bool) throws -> Int32 {
        let flags = SocketType.closeOnExec | (blocks ? 0 : SocketType.nonBlocking)
        let listener = socket(AF_UNIX, SocketType.stream | flags, 0)
        guard withUnixAddress(path, { bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0 else {
            throw SystemError(number: errno)
        }
        return listener
    }
}
