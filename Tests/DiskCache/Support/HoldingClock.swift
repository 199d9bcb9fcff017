import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import Dispatch
import FoundationEssentials

/// A clock that blocks the next threads that read the date, until each is released.
final class HoldingClock: TimeSource {
    private let held = DispatchSemaphore(value: 0)
    private let gate = DispatchSemaphore(value: 0)
    private let remaining = Locked(0)

    var now: Date {
        let holds = remaining.withLock { remaining in
            defer { remaining = max(0, remaining - 1) }
            return remaining > 0
        }
        if holds {
            held.signal()
            gate.wait()
        }
        return Date(timeIntervalSince1970: 1_000_000)
    }

    var uptime: Duration { .zero }

    func sleep(for duration: Duration) async throws { try await ManualClock().sleep(for: duration) }

    /// Blocks the next `count` threads that read the date.
    func hold(_ count: Int) { remaining.withLock { $0 = count } }

    /// Returns once a thread is held. Blocks.
    func waitForHeld() { held.wait() }

    func release() { gate.signal() }
}
