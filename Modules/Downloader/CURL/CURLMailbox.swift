import AlcedoCore
private import CCURLShim

/// Hands commands from any thread to the loop's own.
final class CURLMailbox: Sendable {
    enum Command: Sendable {
        case start(CURLExchange)
        case resume(CURLExchange.ID)
        case cancel(CURLExchange)
        case stop
    }

    private struct State {
        var commands: [Command] = []
        /// The address of the loop to wake, while it lives. A number, because only the wake-up, which any thread may
        /// call, is done with it here.
        var loop = 0
        /// Whether the loop waits, or is about to, and has not been woken.
        var needsWaking = false
        /// Why nothing is taken any more.
        var closed: HTTPTransportError?
    }

    private let state = Locked(State())

    func post(_ command: Command) {
        let refusal = state.withLock { state -> HTTPTransportError? in
            guard state.closed == nil else { return state.closed }
            state.commands.append(command)
            // Under the lock, so that the loop cannot be destroyed meanwhile. Writes one byte to a socket pair.
            if state.needsWaking, let loop = OpaquePointer(bitPattern: state.loop) {
                state.needsWaking = false
                alcedo_curl_loop_wake(loop)
            }
            return nil
        }
        if let refusal { Self.refuse([command], refusal) }
    }

    func takeAll() -> [Command] {
        state.withLock { state in
            defer { state.commands.removeAll(keepingCapacity: true) }
            return state.commands
        }
    }

    /// To be told before the loop waits, which it must not when there is a command. A loop that works looks for commands
    /// by itself, so it is not woken.
    func mayWait() -> Bool {
        state.withLock { state in
            state.needsWaking = state.commands.isEmpty
            return state.needsWaking
        }
    }

    /// To be told when the loop has waited.
    func hasWaited() { state.withLock { $0.needsWaking = false } }

    /// Names the loop to wake.
    func attach(_ loop: OpaquePointer) {
        let address = Int(bitPattern: loop)
        state.withLock { $0.loop = address }
    }

    /// Forgets the loop, which may then be destroyed; requests that wait or come later fail with `error`.
    func close(_ error: HTTPTransportError) {
        let left = state.withLock { state in
            defer { state = State(closed: error) }
            return state.commands
        }
        Self.refuse(left, error)
    }

    private static func refuse(_ commands: [Command], _ error: HTTPTransportError) {
        for case .start(let exchange) in commands { exchange.finish(error) }
    }
}
