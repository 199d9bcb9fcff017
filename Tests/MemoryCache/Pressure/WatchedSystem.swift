import AlcedoCore
@testable import AlcedoMemoryCache
import AlcedoTesting
import TestSupport
import Testing

/// A source with readings, triggers and a clock that a test controls.
final class WatchedSystem: Sendable {
    struct Figures {
        var readings = MemoryReadings()
        var readCount = 0
        var includesAvailable: [Bool] = []
        /// The number of running threads.
        var threadCount = 0
        var threadsMade = 0
    }

    /// Released with the thread whose sensors hold it.
    private final class Presence: Sendable {
        private let figures: Watched<Figures>

        init(_ figures: Watched<Figures>) {
            self.figures = figures
            figures.update { $0.threadCount += 1 }
            figures.update { $0.threadsMade += 1 }
        }

        deinit { figures.update { $0.threadCount -= 1 } }
    }

    let clock: ManualClock
    let figures = Watched(Figures())
    let seen = Watched<[MemoryPressure]>([])
    let source: SystemMemoryPressureSource

    static let holdDuration = Duration.seconds(10)

    init(
        interval: Duration = .milliseconds(2), clock: (any TimeSource)? = nil,
        triggers: [@Sendable () -> StallTriggers] = []
    ) {
        let manualClock = ManualClock()
        self.clock = manualClock
        source = SystemMemoryPressureSource(
            interval: interval, holdDuration: Self.holdDuration, clock: clock ?? manualClock
        ) { [figures] in
            let presence = Presence(figures)
            var sensors = MemoryPressureSensors()
            sensors.triggers = triggers
            sensors.read = { includesAvailable in
                withExtendedLifetime(presence) {}
                return figures.update { figures in
                    figures.readCount += 1
                    figures.includesAvailable.append(includesAvailable)
                    return figures.readings
                }
            }
            return sensors
        }
    }

    /// Observes and records the levels.
    func observe() -> Observation { observe { [seen] level in seen.update { $0.append(level) } } }

    func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> Observation {
        Observation(source.observe(handler))
    }

    /// Sets the level of the next readings.
    func setUse(_ level: MemoryPressure) { figures.update { $0.readings.level = level } }

    /// Advances the clock in steps of a second, and returns once the thread has taken a reading after each.
    func pass(seconds: Int) async throws {
        for _ in 0..<seconds {
            let before = figures.value.readCount
            clock.advance(by: .seconds(1))
            try await figures.waitUntil { $0.readCount > before }
        }
    }
}
