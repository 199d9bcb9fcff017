import AlcedoCore
@testable import AlcedoMemoryCache
import AlcedoTesting
import TestSupport
import Testing

/// A source with readings and a clock that a test controls.
final class WatchedSystem: Sendable {
    struct Figures {
        var readings = MemoryReadings()
        /// The number of running tasks that take readings.
        var taskCount = 0
        var tasksMade = 0
    }

    /// Released with the task whose reader holds it.
    private final class Presence: Sendable {
        private let figures: Watched<Figures>

        init(_ figures: Watched<Figures>) {
            self.figures = figures
            figures.update { $0.taskCount += 1 }
            figures.update { $0.tasksMade += 1 }
        }

        deinit { figures.update { $0.taskCount -= 1 } }
    }

    let clock: ManualClock
    let figures = Watched(Figures())
    let seen = Watched<[MemoryPressure]>([])
    let source: SystemMemoryPressureSource

    init() {
        clock = ManualClock()
        source = SystemMemoryPressureSource(
            interval: .seconds(1), holdDuration: .seconds(10), clock: clock
        ) { [figures] in
            let presence = Presence(figures)
            return {
                withExtendedLifetime(presence) {}
                return figures.value.readings
            }
        }
    }

    /// Observes and records the levels.
    func observe() -> Observation { observe { [seen] level in seen.update { $0.append(level) } } }

    func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> Observation {
        Observation(source.observe(handler))
    }

    /// Sets the level of the next readings.
    func setUse(_ level: MemoryPressure) { figures.update { $0.readings.level = level } }

    /// Returns once a reading was taken and its level reported.
    func eventuallyReads() async throws { try await clock.waitForSleepers(count: 1) }

    /// Advances the clock in steps of a second, and returns once the source has taken a reading after each.
    func pass(seconds: Int) async throws {
        for _ in 0..<seconds {
            try await eventuallyReads()
            clock.advance(by: .seconds(1))
        }
        try await eventuallyReads()
    }
}
