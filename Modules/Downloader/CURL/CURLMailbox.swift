import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
private import CCURLShim

/// A queue of commands from any thread to the loop's thread.
final class CURLMailbox: Sendable {
    enum Command: Sendable {
        case start(CURLExchange)
        case resume(CURLExchange.ID)
        case cancel(CURLExchange)
        case stop
    }

    private struct State {
        var commands: [Command] = []
        /// The address of the running loop; zero if there is none. The address is stored as a number, because it is
        /// used only for the thread-safe wake-up function.
        var loop = 0
        /// Whether the loop waits, or is about to wait, and has not been woken.
        var needsWaking = false
        /// Whether a loop exists or is being created.
        var hasLoop = false
    }

    private let state = Locked(State())

    /// Adds a command and wakes the loop if it waits. Returns true if the caller must start a loop.
    ///
    /// A start command requires a new loop if none exists. All other commands are ignored if no loop exists.
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            var isFirst = false
            if !state.hasLoop {
                guard case .start = command else { return false }
                state.hasLoop = true
                isFirst = true
            }
            state.commands.append(command)
            // The lock keeps the loop from being destroyed meanwhile. The wake-up is fast: it only writes a number to a
            // descriptor.
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

    /// Returns whether the loop may wait: true if there are no commands. The loop calls this function before each wait.
    /// From then until `hasWaited()`, the next command wakes the loop. At other times, the loop checks for commands
    /// itself.
    func mayWait() -> Bool {
        state.withLock { state in
            state.needsWaking = state.commands.isEmpty
            return state.needsWaking
        }
    }

    /// Records that the loop has finished waiting.
    func hasWaited() { state.withLock { $0.needsWaking = false } }

    /// Stores the loop, so that commands can wake it.
    func attach(_ loop: OpaquePointer) {
        let address = Int(bitPattern: loop)
        state.withLock { $0.loop = address }
    }

    /// Removes the loop, which may then be destroyed. Requests that are still in the mailbox fail with `error`. A later
    /// request starts another loop.
    func close(_ error: HTTPTransportError) {
        let left = state.withLock { state in
            defer { state = State() }
            return state.commands
        }
        for case .start(let exchange) in left { exchange.finish(error) }
    }
}
