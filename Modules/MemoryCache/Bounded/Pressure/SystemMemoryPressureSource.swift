public import AlcedoCore
import AlcedoLibc
import AlcedoRuntime

/// A source that reports when this process's control group, or the machine, is short of memory.
///
/// ```swift
/// import AlcedoMemoryCache
///
/// let source = SystemMemoryPressureSource(interval: .seconds(2), holdDuration: .seconds(10))
/// let images = ImageMemoryCache(costLimit: 128 << 20, pressureSource: source)
/// ```
///
/// The source uses the stalls that the kernel announces, the usage and the limits of the control group, and the
/// machine's available memory, as far as the system provides them. The page of the module has the thresholds. A level
/// holds for `holdDuration` after its last sign, 10 seconds by default. System errors are ignored.
///
/// Without observers, the source runs no thread and opens no descriptor. With observers, it uses one thread and at most
/// five descriptors, which it releases after the last token is released. The thread takes the first reading at once.
///
/// - SeeAlso: accounting/psi.rst, admin-guide/cgroup-v2.rst ("Memory Interface Files"),
///   admin-guide/cgroup-v1/memory.rst and filesystems/proc.rst ("meminfo") in the kernel's documentation.
public final class SystemMemoryPressureSource: MemoryPressureSource {
    /// The shared source with the default configuration. One thread serves all its observers, and runs only while it
    /// has any.
    public static let shared = SystemMemoryPressureSource()

    private let hub: MemoryPressureHub

    /// Creates a source, which reads nothing until it has an observer.
    ///
    /// - Parameters:
    ///   - interval: The time between two readings of the figures that the kernel does not announce. Default: 5
    ///     seconds. Minimum: 1 millisecond.
    ///   - holdDuration: The time for which a level holds after its last sign. Default: 10 seconds, which exceeds the
    ///     two seconds after which the kernel repeats an announcement.
    public convenience init(interval: Duration = .seconds(5), holdDuration: Duration = .seconds(10)) {
        self.init(configuration: Configuration(interval: interval, holdDuration: holdDuration))
    }

    package convenience init(configuration: Configuration) {
        self.init(configuration: configuration, clock: SystemClock()) {
            MemoryPressureSensors(files: SystemFiles(root: configuration.root))
        }
    }

    /// Creates a source with its own clock and sensors.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - clock: The clock that determines the time of readings and the end of levels. The thread itself waits in real
    ///     time.
    ///   - makeSensors: Called once on each thread that the source starts.
    init(
        configuration: Configuration, clock: any TimeSource,
        makeSensors: @escaping @Sendable () -> MemoryPressureSensors
    ) {
        hub = MemoryPressureHub { stop, report in
            var loop = MemoryPressureLoop(
                stop: stop, sensors: makeSensors(), configuration: configuration, clock: clock, report: report)
            loop.run()
        }
    }

    /// Calls `handler` on the source's thread at each change of the level until the returned token is released.
    ///
    /// The source does not report the level that it had before the call, so an observer should assume `normal` at
    /// first. The source calls handlers one after the other, outside any lock. A handler may add and remove observers.
    /// A call that is in progress may end after its token is released. The token keeps the observation alive even if
    /// the source is released.
    public func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> any Sendable {
        hub.observe(handler)
    }
}

extension SystemMemoryPressureSource {
    package struct Configuration: Sendable, Equatable {
        /// The root directory for the kernel's files. Default: `/`. This absolute path prefixes the paths of the files
        /// below `/proc` and of the mounted control groups.
        package var root: String
        /// The time between two readings of the figures that the kernel does not announce. Default: 5 seconds. Minimum:
        /// 1 millisecond.
        package var interval: Duration
        /// The time for which a level holds after its last sign. Default: 10 seconds, which exceeds the two seconds
        /// after which the kernel repeats an announcement.
        package var holdDuration: Duration

        /// Creates a configuration. By default, a source reads the figures of its own machine every five seconds.
        package init(root: String = "/", interval: Duration = .seconds(5), holdDuration: Duration = .seconds(10)) {
            (self.root, self.interval, self.holdDuration) = (root, interval, holdDuration)
        }
    }
}

/// The state that a source, its tokens and its thread share: the observers, and the signal that stops the thread.
///
/// Handlers are called and released outside the lock.
private final class MemoryPressureHub: Sendable {
    typealias Handler = @Sendable (MemoryPressure) -> Void

    private struct State {
        var handlers: [Int: Handler] = [:]
        var lastID = 0
        /// The signal that stops the running thread; nil if no thread runs.
        var stop: StopSignal?
        var level = MemoryPressure.normal
    }

    private let state = Locked(State())
    private let run: @Sendable (StopSignal, @escaping (MemoryPressure) -> Void) -> Void

    /// Creates a hub.
    ///
    /// - Parameter run: Monitors the system until the signal is raised, and reports levels. Called on a thread of its
    ///   own.
    init(run: @escaping @Sendable (StopSignal, @escaping (MemoryPressure) -> Void) -> Void) { self.run = run }

    func observe(_ handler: @escaping Handler) -> MemoryPressureToken {
        let (id, isFirst) = state.withLock { state in
            state.lastID += 1
            state.handlers[state.lastID] = handler
            return (state.lastID, state.stop == nil)
        }
        if isFirst { start() }
        return MemoryPressureToken(hub: self, id: id)
    }

    func remove(_ id: Int) {
        let (handler, stop) = state.withLock { state in
            let handler = state.handlers.removeValue(forKey: id)
            guard state.handlers.isEmpty else { return (handler, StopSignal?.none) }
            state.level = .normal
            return (handler, state.stop.take())
        }
        stop?.raise()
        _ = consume handler
    }

    private func start() {
        // If the process has no descriptors left, nothing is reported. The next observer tries again.
        guard let stop = StopSignal() else { return }
        let mayStart = state.withLock { state in
            guard state.stop == nil, !state.handlers.isEmpty else { return false }
            state.stop = stop
            return true
        }
        guard mayStart else { return }
        // The executor and its thread are released when its only job ends.
        let executor = BlockingExecutor(name: "alcedo.memory-pressure", maxConcurrent: 1)
        Task.detached {
            try? await executor.run { self.run(stop) { self.report($0, from: stop) } }
        }
    }

    private func report(_ level: MemoryPressure, from stop: StopSignal) {
        let ids = state.withLock { state -> [Int] in
            // Reports of a stopped thread are ignored.
            guard state.stop === stop, state.level != level else { return [] }
            state.level = level
            return state.handlers.keys.sorted()
        }
        for id in ids {
            // The handler is looked up each time, because an earlier handler may have ended this observation.
            let handler = state.withLock { $0.handlers[id] }
            handler?(level)
        }
    }
}

/// A token that ends an observation when it is released.
private final class MemoryPressureToken: Sendable {
    private let hub: MemoryPressureHub
    private let id: Int

    init(hub: MemoryPressureHub, id: Int) { (self.hub, self.id) = (hub, id) }

    deinit { hub.remove(id) }
}

/// The loop of a source's thread, which waits for triggers and takes readings in between.
private struct MemoryPressureLoop: ~Copyable {
    /// The time for which a trigger is ignored after it fired, so that a faulty trigger that fires continuously does
    /// not keep a processor busy. No event is lost, because a correct trigger fires at most once in two seconds
    /// and stays pending.
    private static let triggerInterval = Duration.seconds(1)
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
    private var warningIgnoredUntil: Duration
    private var criticalIgnoredUntil: Duration

    /// Creates the loop. It calls `report` with the level after every step, whether the level has changed or not.
    init(
        stop: StopSignal, sensors: MemoryPressureSensors, configuration: SystemMemoryPressureSource.Configuration,
        clock: any TimeSource, report: @escaping (MemoryPressure) -> Void
    ) {
        (self.stop, self.clock, self.report) = (stop, clock, report)
        interval = max(.milliseconds(1), configuration.interval)
        read = sensors.read
        candidates = sensors.triggers[...]
        decision = MemoryPressureDecision(holdDuration: configuration.holdDuration)
        let now = clock.uptime
        (nextReading, warningIgnoredUntil, criticalIgnoredUntil) = (now, now, now)
    }

    /// Runs until the signal is raised.
    mutating func run() {
        armNext()
        while !stop.isRaised {
            let now = clock.uptime
            if now >= nextReading {
                // Stalls are more reliable than the available memory, which is low on many healthy machines.
                decision.record(read(!triggers.isArmed), at: now)
                stalls.record(triggers.readCount(), at: now)
                nextReading = now + interval
            }
            if let nextSample = stalls.nextSample, now >= nextSample {
                for level in stalls.resolve(triggers.readCount(), at: now) { decision.recordStall(level, at: now) }
            }
            report(decision.level(at: now))
            wait()
        }
    }

    private mutating func wait() {
        let now = clock.uptime
        var waits = [
            pollfd(fd: stop.readEnd, events: Int16(POLLIN), revents: 0),
            // poll(2) ignores a negative descriptor.
            pollfd(fd: now < warningIgnoredUntil ? -1 : triggers.warning, events: Int16(POLLPRI), revents: 0),
            pollfd(fd: now < criticalIgnoredUntil ? -1 : triggers.critical, events: Int16(POLLPRI), revents: 0),
        ]
        guard poll(&waits, nfds_t(waits.count), timeout(from: now)) >= 0 else {
            var pause = timespec(tv_sec: 0, tv_nsec: Self.retryNanoseconds)
            if errno != EINTR { nanosleep(&pause, nil) }
            return
        }
        let fired = clock.uptime
        if (waits[1].revents | waits[2].revents) & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 {
            // The group may have been removed, for example. An error is reported together with POLLPRI but is not an
            // event.
            armNext()
            nextReading = fired
            return
        }
        if waits[1].revents != 0 {
            handleTrigger(.warning, at: fired)
            warningIgnoredUntil = fired + Self.triggerInterval
        }
        if waits[2].revents != 0 {
            handleTrigger(.critical, at: fired)
            criticalIgnoredUntil = fired + Self.triggerInterval
        }
    }

    /// Handles a trigger that has fired.
    private mutating func handleTrigger(_ level: MemoryPressure, at now: Duration) {
        if stalls.confirms(level, triggers.readCount(), at: now) { decision.recordStall(level, at: now) }
    }

    /// Closes the current triggers and arms the next available ones. Each is tried once.
    private mutating func armNext() {
        triggers = StallTriggers()
        stalls = StallHistory()
        while !triggers.isArmed, let make = candidates.popFirst() { triggers = make() }
        stalls.record(triggers.readCount(), at: clock.uptime)
    }

    /// Returns the number of milliseconds until the next step, rounded up so that the loop does not wake early
    /// repeatedly.
    private func timeout(from now: Duration) -> Int32 {
        var end = min(nextReading, now + .seconds(3600))
        if let change = decision.nextChange(after: now) { end = min(end, change) }
        if let sample = stalls.nextSample { end = min(end, sample) }
        if triggers.warning >= 0, now < warningIgnoredUntil { end = min(end, warningIgnoredUntil) }
        if triggers.critical >= 0, now < criticalIgnoredUntil { end = min(end, criticalIgnoredUntil) }
        return Int32(max(0, ((end - now) / .milliseconds(1)).rounded(.up)))
    }
}

/// A signal that ends a thread waiting in poll(2): a pipe that becomes readable when the signal is raised. It is closed
/// when this object is released.
private final class StopSignal: Sendable {
    /// The descriptor that the thread polls.
    let readEnd: Int32
    private let writeEnd: Int32
    private let raised = Locked(false)

    /// Creates a signal. Returns nil if the process has no descriptors left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (readEnd, writeEnd) = (ends[0], ends[1])
        // The flags are set separately, because pipe2(2) is not available to Swift.
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    var isRaised: Bool { raised.withLock { $0 } }

    func raise() {
        raised.withLock { $0 = true }
        var byte: UInt8 = 1
        _ = write(writeEnd, &byte, 1)
    }
}

/// The sensors that a source's thread reads. Tests supply their own.
struct MemoryPressureSensors: Sendable {
    /// Functions that create triggers, in order of preference. Triggers that could not be armed are skipped.
    var triggers: [@Sendable () -> StallTriggers] = []
    /// Reads the figures. The parameter says whether the figures include the machine's available memory.
    var read: @Sendable (_ includesAvailable: Bool) -> MemoryReadings = { _ in MemoryReadings() }

    init() {}

    /// Creates sensors for stalls and for figures. The stalls are those of the process's control group or, if the
    /// kernel does not announce these, of the machine. The figures are those of both.
    init(files: SystemFiles) {
        let groups = ControlGroups(files: files)
        let paths = (groups.unified.first.map { [$0 + "/memory.pressure"] } ?? []) + ["/proc/pressure/memory"]
        triggers = paths.map { path in { StallTriggers(arming: files.path(path)) } }
        let reader = MemoryReader(files: files, groups: groups)
        read = { reader.read(includesAvailable: $0) }
    }
}
