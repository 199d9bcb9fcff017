import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
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
        /// Whether there is a loop, or one is being made.
        var hasLoop = false
    }

    private let state = Locked(State())

    /// Returns whether the caller is to begin a loop: a request is the first of all, or the first since the last loop
    /// could not be made. Without a loop there is nothing to stop, cancel or resume.
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            var isFirst = false
            if !state.hasLoop {
                guard case .start = command else { return false }
                state.hasLoop = true
                isFirst = true
            }
            state.commands.append(command)
            // Under the lock, so that the loop cannot be destroyed meanwhile. Writes one number to a descriptor.
            if state.needsWaking, let loop = OpaquePointer(bitPattern: state.loop) {
                state.needsWaking = false
                alcedo_curl_loop_wake(loop)
            }
            return isFirst
        }
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

    /// Forgets the loop, which may then be destroyed. Requests that wait fail with `error`; one that comes later begins
    /// another loop.
    func close(_ error: HTTPTransportError) {
        let left = state.withLock { state in
            defer { state = State() }
            return state.commands
        }
        for case .start(let exchange) in left { exchange.finish(error) }
    }
}
