import Glibc

/// A socket that takes connections and never says a word.
final class SilentSocket: Sendable {
    private struct Trouble: Error {
        var number: Int32
    }

    private let listener: Int32

    init(path: String) throws {
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(listener, 64) == 0 else { throw Trouble(number: errno) }
    }

    deinit { close(listener) }

    /// How many have connected. Closes them.
    func connectionCount() -> Int {
        var count = 0
        while case let connection = accept(listener, nil, nil), connection >= 0 {
            close(connection)
            count += 1
        }
        return count
    }
}
