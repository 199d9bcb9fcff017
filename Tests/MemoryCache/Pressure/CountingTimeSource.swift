import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport

/// The system clock, with a count of its readings.
struct CountingTimeSource: TimeSource {
    private let clock = SystemClock()
    private let looks = Watched(0)

    var count: Int { looks.value }

    var now: Date { clock.now }

    var uptime: Duration {
        looks.update { $0 += 1 }
        return clock.uptime
    }

    func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }
}
