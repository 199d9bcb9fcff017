public import AlcedoCore
import AlcedoLibc
import AlcedoRuntime

/// Tells when this process's control group, or the machine, is short of memory.
///
/// Three things are looked at, as far as the system offers them; one that offers none is never short of memory:
/// - Stalls for want of memory, which the kernel announces: of the own control group (cgroup v2) if it may be asked,
///   else of the whole machine. Some tasks stalled for 100 ms of two seconds is a warning, all of them for 150 ms is
///   critical. The kernel also counts stalls, and an announcement holds only if its count shows them: at once, or else
///   after the two seconds in which it is renewed. (Linux 6.18 announces stalls that there were not.)
/// - The own control group, at every interval. With cgroup v2 a rise of the counter `high` or `max` is a warning, of
///   `oom` critical. Where the group, or one above it, has a limit, use of 90 % is a warning and of 97 % critical; the
///   limit `memory.high` gives warnings only. Inactive file cache does not count as use. With cgroup v1 it is the own
///   group's use and limit alone.
/// - The memory that the machine has available, at every interval, where stalls are not announced: below 10 % is a
///   warning, below 5 % critical.
///
/// A level holds for some seconds after the last sign of it. Nothing runs and no descriptor is open without observers;
/// with them it is one thread and at most five descriptors, which go after the last token has gone. The first reading
/// is made at once, on that thread. Errors of the system are passed over.
///
/// - SeeAlso: accounting/psi.rst, admin-guide/cgroup-v2.rst ("Memory Interface Files"),
///   admin-guide/cgroup-v1/memory.rst and filesystems/proc.rst ("meminfo") in the kernel's documentation.
public final class SystemMemoryPressureSource: MemoryPressureSource {
    /// The source for all who need no configuration of their own: one thread serves them, while there are observers.
    public static let shared = SystemMemoryPressureSource()

    private let hub: MemoryPressureHub

    /// Creates a source that reads nothing until it has an observer.
    ///
    /// - Parameters:
    ///   - interval: The time between two readings of what the kernel does not announce. Default: 5 seconds; at least a
    ///     millisecond.
    ///   - holdDuration: How long a level holds after the last sign of it. Default: 10 seconds, which is longer than the two
    ///     seconds after which lasting pressure is announced again.
    public convenience init(interval: Duration = .seconds(5), holdDuration: Duration = .seconds(10)) {
        self.init(configuration: Configuration(interval: interval, holdDuration: holdDuration))
    }

    package convenience init(configuration: Configuration) {
        self.init(configuration: configuration, clock: SystemClock()) {
            MemoryPressureSensors(files: SystemFiles(root: configuration.root))
        }
    }

    /// - Parameters:
    ///   - clock: Tells when to read and when a level has held long enough. The thread itself waits in real time.
    ///   - makeSensors: Called on each thread that begins.
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

    /// Calls `handler` at each change of the level until the returned token is let go, on the source's thread.
    ///
    /// Who begins to observe is taken to expect `normal`, and is not told a level that was reached before. Handlers are
    /// called outside any lock, one after the other, and may add and drop observers. A call that has begun may end
    /// after its token has gone. The token keeps the observation alive without the source.
    public func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> any Sendable {
        hub.observe(handler)
    }
}

extension SystemMemoryPressureSource {
    /// Where a source looks, and how often.
    package struct Configuration: Sendable, Equatable {
        /// Absolute path of the folder that stands for `/`, before the paths of the kernel's files below `/proc` and
        /// wherever control groups are mounted. Default: `/`. A test makes a folder of its own.
        package var root: String
        /// Time between two readings of the figures that do not announce themselves. Default: 5 seconds; at least a
        /// millisecond.
        package var interval: Duration
        /// How long a level holds after the last sign of it. Default: 10 seconds, which is longer than the two seconds
        /// after which lasting pressure is announced again.
        package var holdDuration: Duration

        /// By default looks every five seconds at the machine it runs on.
        package init(root: String = "/", interval: Duration = .seconds(5), holdDuration: Duration = .seconds(10)) {
            (self.root, self.interval, self.holdDuration) = (root, interval, holdDuration)
        }
    }
}

/// What a source, its tokens and its thread share: who observes, and whether a thread runs.
///
/// Handlers are called, and let go, outside the lock.
private final class MemoryPressureHub: Sendable {
    typealias Handler = @Sendable (MemoryPressure) -> Void

    private struct State {
        var handlers: [Int: Handler] = [:]
        var lastID = 0
        /// Stops the thread that runs; nil when none does.
        var stop: StopSignal?
        var level = MemoryPressure.normal
    }

    private let state = Locked(State())
    private let run: @Sendable (StopSignal, @escaping (MemoryPressure) -> Void) -> Void

    /// - Parameter run: Watches until the signal is raised, and reports levels. Called on a thread of its own.
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
        // Without a descriptor left nothing is reported; the next observer tries again.
        guard let stop = StopSignal() else { return }
        let mayStart = state.withLock { state in
            guard state.stop == nil, !state.handlers.isEmpty else { return false }
            state.stop = stop
            return true
        }
        guard mayStart else { return }
        // The executor goes with its only piece of work, and its thread with it.
        let executor = BlockingExecutor(name: "alcedo.memory-pressure", width: 1)
        Task.detached {
            try? await executor.run { self.run(stop) { self.report($0, from: stop) } }
        }
    }

    private func report(_ level: MemoryPressure, from stop: StopSignal) {
        let ids = state.withLock { state -> [Int] in
            // A thread that was stopped has no say any more.
            guard state.stop === stop, state.level != level else { return [] }
            state.level = level
            return state.handlers.keys.sorted()
        }
        for id in ids {
            // Looked up again each time: the last handler may have ended this observation.
            let handler = state.withLock { $0.handlers[id] }
            handler?(level)
        }
    }
}

/// Ends an observation when it goes.
private final class MemoryPressureToken: Sendable {
    private let hub: MemoryPressureHub
    private let id: Int

    init(hub: MemoryPressureHub, id: Int) { (self.hub, self.id) = (hub, id) }

    deinit { hub.remove(id) }
}

/// The thread of a source: waits for triggers and reads figures in between.
private struct MemoryPressureLoop: ~Copyable {
    /// How long a trigger is left alone after it fired. It fires at most once in two seconds, and is remembered, so
    /// nothing is lost; and one that would not fall silent keeps no processor busy.
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
                // Stalls tell more than a figure that many machines live with well.
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
            // A negative descriptor is passed over.
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
            // The group has gone, say. An error comes with POLLPRI, but is no event.
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

    /// A trigger has fired.
    private mutating func handleTrigger(_ level: MemoryPressure, at now: Duration) {
        if stalls.confirms(level, triggers.readCount(), at: now) { decision.recordStall(level, at: now) }
    }

    /// Drops the triggers there are, and takes the next that can be had. Each is tried once.
    private mutating func armNext() {
        triggers = StallTriggers()
        stalls = StallHistory()
        while !triggers.isArmed, let make = candidates.popFirst() { triggers = make() }
        stalls.record(triggers.readCount(), at: clock.uptime)
    }

    /// Milliseconds until there is something to do, rounded up, so that it is not done too early again and again.
    private func timeout(from now: Duration) -> Int32 {
        var end = min(nextReading, now + .seconds(3600))
        if let change = decision.nextChange(after: now) { end = min(end, change) }
        if let sample = stalls.nextSample { end = min(end, sample) }
        if triggers.warning >= 0, now < warningIgnoredUntil { end = min(end, warningIgnoredUntil) }
        if triggers.critical >= 0, now < criticalIgnoredUntil { end = min(end, criticalIgnoredUntil) }
        return Int32(max(0, ((end - now) / .milliseconds(1)).rounded(.up)))
    }
}

/// Tells a thread that waits in poll(2) to end: a pipe that becomes readable, closed when nobody holds this object.
private final class StopSignal: Sendable {
    /// What the thread polls.
    let readEnd: Int32
    private let writeEnd: Int32
    private let raised = Locked(false)

    /// nil when the process has no descriptors left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (readEnd, writeEnd) = (ends[0], ends[1])
        // Swift sees no pipe2(2).
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

/// What a watching thread looks at; a test has its own.
struct MemoryPressureSensors: Sendable {
    /// Each makes triggers, the preferred ones first. One that gives none is passed over.
    var triggers: [@Sendable () -> StallTriggers] = []
    /// Reads the figures, including those of the machine when asked to.
    var read: @Sendable (_ includesAvailable: Bool) -> MemoryReadings = { _ in MemoryReadings() }

    init() {}

    /// The pressure of the own control group, or else of the machine; the figures of both.
    init(files: SystemFiles) {
        let groups = ControlGroups(files: files)
        let paths = (groups.unified.first.map { [$0 + "/memory.pressure"] } ?? []) + ["/proc/pressure/memory"]
        triggers = paths.map { path in { StallTriggers(arming: files.path(path)) } }
        let reader = MemoryReader(files: files, groups: groups)
        read = { reader.read(includesAvailable: $0) }
    }
}
