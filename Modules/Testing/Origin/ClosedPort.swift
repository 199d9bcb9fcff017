import AlcedoCore
import AlcedoRuntime
public import FoundationEssentials

/// A port of 127.0.0.1 where nobody listens, and nobody can: connections to it are refused.
///
/// The port of a server that has ended is free, and may be another server's a moment later.
public final class ClosedPort: Sendable {
    /// Such as `http://127.0.0.1:40123`.
    public let url: URL
    /// The port's number.
    package let port: Int

    private let socket: Locked<OriginSocket?>

    /// Takes a free port.
    ///
    /// - Throws: An error if the system provides no socket.
    public init() throws {
        let (socket, port) = try OriginSocket.bound()
        guard let url = URL(string: "http://127.0.0.1:\(port)") else {
            socket.close()
            throw OriginError(message: "no URL for port \(port)")
        }
        (self.url, self.port) = (url, Int(port))
        self.socket = Locked(socket)
    }

    deinit { free() }

    /// Lets others have the port. So does the end of this object.
    package func free() {
        socket.withLock { socket in
            socket?.close()
            socket = nil
        }
    }
}
