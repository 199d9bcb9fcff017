import Alcedo
private import CHTTPServerShim

/// Notices clients that go away while they wait, on a thread of its own.
///
/// `@unchecked` because of the pointer: any thread may call what takes it, and the thread that waits is the last to use it.
final class ClientWatch: @unchecked Sendable {
    private let departures: OpaquePointer

    /// Nil when the system has no descriptor for it.
    init?() {
        guard let departures = alcedo_http_departures_create() else { return nil }
        self.departures = departures
    }

    /// - Parameter onDeparture: Gets the number that the socket was watched under.
    func start(_ onDeparture: @escaping @Sendable (UInt64) -> Void) {
        LoopThread.start { [self] in
            while case let number = alcedo_http_departures_next(departures), number != 0 { onDeparture(number) }
        }
    }

    deinit { alcedo_http_departures_destroy(departures) }

    func watch(_ socket: Int32, _ number: UInt64) { _ = alcedo_http_departures_watch(departures, socket, number) }

    func forget(_ socket: Int32) { alcedo_http_departures_forget(departures, socket) }

    func end() { alcedo_http_departures_end(departures) }
}
