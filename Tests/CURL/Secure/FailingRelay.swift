import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import AlcedoTesting
import TestSupport

/// Forwards bytes between clients and a server on the loopback. Existing connections fail when a test says so, and
/// later ones work.
final class FailingRelay: Sendable {
    private struct State: Sendable {
        var silentBefore = 0
        var brokenBefore = 0
        var count = 0
        /// The sockets of clients and server.
        var open: Set<Int32> = []
        /// The connections of which one direction has ended.
        var ending: Set<Int> = []
    }

    struct SystemError: Error {}

    let port: Int
    private let listener: Int32
    private let target: sockaddr_in
    private let state = Watched(State())

    /// - Parameter server: The server's port.
    init(to server: Int) throws {
        let listener = Self.makeSocket()
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = Self.with(&address) {
            bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
        }
        guard isListening else { throw SystemError() }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        target = Self.address(UInt16(truncatingIfNeeded: server))
        LoopThread.start { [target, state] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                Self.connect(client, to: target, state)
            }
            close(listener)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        state.update { for socket in $0.open { shutdown(socket, Int32(SHUT_RDWR)) } }
    }

    /// The number of connections so far.
    var count: Int { state.value.count }

    /// Lets the existing connections stay open without traffic, as after a change of network.
    func silence() { state.update { $0.silentBefore = $0.count } }

    /// Ends each existing connection once its client sends something. Until then, the client cannot notice anything.
    func breakConnections() { state.update { $0.brokenBefore = $0.count } }

    /// Returns when the server has ended all connections, and the clients have been told so.
    func waitForEnd() async throws { try await state.waitUntil { $0.open.isEmpty } }

    private static func connect(_ client: Int32, to target: sockaddr_in, _ state: Watched<State>) {
        let server = makeSocket()
        var address = target
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard with(&address, { AlcedoLibc.connect(server, $0, length) }) == 0 else {
            close(server)
            close(client)
            return
        }
        let number = state.update { state -> Int in
            state.open.formUnion([client, server])
            state.count += 1
            return state.count - 1
        }
        // Each direction ends the other. The second one closes both sockets: if the first one closed any, a new
        // connection could get its number and be ended in its place.
        for (source, sink) in [(client, server), (server, client)] {
            LoopThread.start {
                var piece = [UInt8](repeating: 0, count: 1 << 16)
                while case let count = recv(source, &piece, piece.count, 0), count > 0 {
                    if number < state.value.silentBefore { continue }
                    if source == client, number < state.value.brokenBefore { break }
                    var sent = 0
                    while sent < count, case let more = send(sink, Array(piece[sent..<count]), count - sent, noSignal),
                        more > 0
                    { sent += more }
                }
                state.update { state in
                    shutdown(sink, Int32(SHUT_RDWR))
                    guard state.ending.remove(number) != nil else {
                        state.ending.insert(number)
                        return
                    }
                    for socket in [client, server] {
                        state.open.remove(socket)
                        close(socket)
                    }
                }
            }
        }
    }

    private static let noSignal = Int32(MSG_NOSIGNAL)

    private static func makeSocket() -> Int32 {
        socket(AF_INET, SocketType.stream | SocketType.closeOnExec, 0)
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }

    private static func with<Value>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Value
    ) -> Value {
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }
}
