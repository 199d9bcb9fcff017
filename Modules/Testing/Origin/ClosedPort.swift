import AlcedoCore
import AlcedoRuntime
package import FoundationEssentials

/// A reserved port of 127.0.0.1 that refuses connections.
///
/// Until it is released, the port is bound without a listener, so no other process can listen on it. The port of a
/// stopped server, in contrast, is free, and another server may take it a moment later.
package final class ClosedPort: Sendable {
    /// The base URL, such as `http://127.0.0.1:40123`.
    package let url: URL
    package let port: Int

    private let socket: Locked<OriginSocket?>

    /// Reserves a free port.
    ///
    /// - Throws: An error if the system provides no socket or no free port.
    package init() throws {
        let (socket, port) = try OriginSocket.bound()
        guard let url = URL(string: "http://127.0.0.1:\(port)") else {
            socket.close()
            throw OriginError(message: "cannot create a URL for port \(port)")
        }
        (self.url, self.port) = (url, Int(port))
        self.socket = Locked(socket)
    }

    deinit { free() }

    /// Releases the port. Deinitialization also releases it.
    package func free() {
        socket.withLock { socket in
            socket?.close()
            socket = nil
        }
    }
}
