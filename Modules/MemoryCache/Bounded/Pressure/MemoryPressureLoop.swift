import AlcedoCore
import AlcedoLibc

/// The thread of a source: waits for triggers and reads figures in between.
struct MemoryPressureLoop: ~Copyable {
    /// How long a trigger is left alone after it fired. It fires at most once in two seconds, and is remembered, so
    /// nothing is lost; and one that would not fall silent keeps no processor busy.
    private static let rest = Duration.seconds(1)
    private static let retryNanoseconds = 100_000_000

    private let stop: StopSignal
    private let clock: any TimeSource
    private let interval: Duration
    private let read: @Sendable (Bool) -> MemoryReadings
    private let report: (MemoryPressure) -> Void

    private var candidates: ArraySlice<@Sendable () -> StallTriggers>
    private var triggers = StallTriggers()
    private var stalls = StallHistory()
    private var decision: MemoryPressureDecision
    private var nextReading: Duration
    private var warningRestEnd: Duration
    private var criticalRestEnd: Duration

    /// - Parameters:
    ///   - report: Told the level at every look, changed or not.
    init(
        stop: StopSignal, sensors: MemoryPressureSensors, configuration: SystemMemoryPressureSource.Configuration,
        clock: any TimeSource, report: @escaping (MemoryPressure) -> Void
    ) {
        (self.stop, self.clock, self.report) = (stop, clock, report)
        interval = max(.milliseconds(1), configuration.interval)
        read = sensors.read
        candidates = sensors.triggers[...]
        decision = MemoryPressureDecision(hold: configuration.hold)
        let now = clock.uptime
        (nextReading, warningRestEnd, criticalRestEnd) = (now, now, now)
    }

    /// Runs until the signal is raised.
    mutating func run() {
        armNext()
        while !stop.isRaised {
            let now = clock.uptime
            if now >= nextReading {
                // Stalls tell more than a figure that many machines live with well.
                decision.note(read(!triggers.isArmed), at: now)
                stalls.note(triggers.readCount(), at: now)
                nextReading = now + interval
            }
            if let nextLook = stalls.nextLook, now >= nextLook {
                for level in stalls.settle(triggers.readCount(), at: now) { decision.noteStall(level, at: now) }
            }
            report(decision.level(at: now))
            wait()
        }
    }

    private mutating func wait() {
        let now = clock.uptime
        var waits = [
            pollfd(fd: stop.readEnd, events: Int16(POLLIN), revents: 0),
            // A negative descriptor is passed over.
            pollfd(fd: now < warningRestEnd ? -1 : triggers.warning, events: Int16(POLLPRI), revents: 0),
            pollfd(fd: now < criticalRestEnd ? -1 : triggers.critical, events: Int16(POLLPRI), revents: 0),
        ]
        guard poll(&waits, nfds_t(waits.count), timeout(from: now)) >= 0 else {
            var pause = timespec(tv_sec: 0, tv_nsec: Self.retryNanoseconds)
            if errno != EINTR { nanosleep(&pause, nil) }
            return
        }
        let fired = clock.uptime
        if (waits[1].revents | waits[2].revents) & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 {
            // The group has gone, say. An error comes with POLLPRI, but is no event.
            armNext()
            nextReading = fired
            return
        }
        if waits[1].revents != 0 {
            announce(.warning, at: fired)
            warningRestEnd = fired + Self.rest
        }
        if waits[2].revents != 0 {
            announce(.critical, at: fired)
            criticalRestEnd = fired + Self.rest
        }
    }

    /// A trigger has fired.
    private mutating func announce(_ level: MemoryPressure, at now: Duration) {
        if stalls.believes(level, triggers.readCount(), at: now) { decision.noteStall(level, at: now) }
    }

    /// Drops the triggers there are, and takes the next that can be had. Each is tried once.
    private mutating func armNext() {
        triggers = StallTriggers()
        stalls = StallHistory()
        while !triggers.isArmed, let make = candidates.popFirst() { triggers = make() }
        stalls.note(triggers.readCount(), at: clock.uptime)
    }

    /// Milliseconds until there is something to do, rounded up, so that it is not done too early again and again.
    private func timeout(from now: Duration) -> Int32 {
        var end = min(nextReading, now + .seconds(3600))
        if let change = decision.nextChange(after: now) { end = min(end, change) }
        if let look = stalls.nextLook { end = min(end, look) }
        if triggers.warning >= 0, now < warningRestEnd { end = min(end, warningRestEnd) }
        if triggers.critical >= 0, now < criticalRestEnd { end = min(end, criticalRestEnd) }
        return Int32(max(0, ((end - now) / .milliseconds(1)).rounded(.up)))
    }
}
