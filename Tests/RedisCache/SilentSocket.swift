import AlcedoLibc

/// A socket that accepts connections and never sends anything.
final class SilentSocket: Sendable {
    private let listener: Int32

    init(path: String) throws { listener = try UnixListener.open(path, blocks: false) }

    deinit { close(listener) }

    /// Returns the number of connections, and closes them.
    func connectionCount() -> Int {
        var count = 0
        while case let connection = accept(listener, nil, nil), connection >= 0 {
            close(connection)
            count += 1
        }
        return count
    }
}
