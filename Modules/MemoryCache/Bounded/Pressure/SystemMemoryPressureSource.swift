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
    private struct State {
        var handlers: [Int: @Sendable (MemoryPressure) -> Void] = [:]
        var lastID = 0
        /// The signal that stops the running thread; nil if no thread runs.
        var stop: StopSignal?
        var level = MemoryPressure.normal
    }

    /// The shared source with the default configuration. One thread serves all its observers, and runs only while it
    /// has any.
    public static let shared = SystemMemoryPressureSource()

    private let state = Locked(State())
    private let makeMonitor: @Sendable () -> MemoryPressureMonitor

    /// Creates a source, which reads nothing until it has an observer.
    ///
    /// - Parameters:
    ///   - interval: The time between two readings of the figures that the kernel does not announce. Default: 5
    ///     seconds. Minimum: 1 millisecond.
    ///   - holdDuration: The time for which a level holds after its last sign. Default: 10 seconds, which exceeds the
    ///     two seconds after which the kernel repeats an announcement.
    public convenience init(interval: Duration = .seconds(5), holdDuration: Duration = .seconds(10)) {
        self.init(root: "/", interval: interval, holdDuration: holdDuration)
    }

    /// Creates a source that reads the kernel's files below a directory. This absolute path prefixes the paths of the
    /// files below `/proc` and of the mounted control groups.
    package convenience init(
        root: String, interval: Duration = .seconds(5), holdDuration: Duration = .seconds(10)
    ) {
        self.init(interval: interval, holdDuration: holdDuration, clock: SystemClock()) {
            MemoryPressureSensors(files: SystemFiles(root: root))
        }
    }

    /// Creates a source with its own clock and sensors.
    ///
    /// - Parameters:
    ///   - interval: The time between two readings of the figures that the kernel does not announce.
    ///   - holdDuration: The time for which a level holds after its last sign.
    ///   - clock: The clock that determines the time of readings and the end of levels. The thread itself waits in real
    ///     time.
    ///   - makeSensors: Called once on each thread that the source starts.
    init(
        interval: Duration, holdDuration: Duration, clock: any TimeSource,
        makeSensors: @escaping @Sendable () -> MemoryPressureSensors
    ) {
        makeMonitor = {
            MemoryPressureMonitor(
                sensors: makeSensors(), interval: max(.milliseconds(1), interval), clock: clock,
                decision: MemoryPressureDecision(holdDuration: holdDuration))
        }
    }

    /// Calls `handler` on the source's thread at each change of the level until the returned token is released.
    ///
    /// The source does not report the level that it had before the call, so an observer should assume `normal` at
    /// first. The source calls handlers one after the other, outside any lock. A handler may add and remove observers.
    /// A call that is in progress may end after its token is released. The token keeps the observation alive even if
    /// the source is released.
    public func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> any Sendable {
        let id = state.withLock { state in
            state.lastID += 1
            state.handlers[state.lastID] = handler
            return state.lastID
        }
        startIfNecessary()
        return Observation(source: self, id: id)
    }

    fileprivate func remove(_ id: Int) {
        // The handler is released outside the lock, because it may hold another token.
        let (handler, stop) = state.withLock { state in
            let handler = state.handlers.removeValue(forKey: id)
            guard state.handlers.isEmpty else { return (handler, StopSignal?.none) }
            state.level = .normal
            return (handler, state.stop.take())
        }
        stop?.raise()
        _ = consume handler
    }

    private func startIfNecessary() {
        // If the process has no descriptors left, nothing is reported. The next observer tries again.
        guard state.withLock({ $0.stop == nil }), let stop = StopSignal() else { return }
        let mayStart = state.withLock { state in
            guard state.stop == nil, !state.handlers.isEmpty else { return false }
            state.stop = stop
            return true
        }
        guard mayStart else { return }
        LoopThread.start { [self] in
            var monitor = makeMonitor()
            repeat { report(monitor.step(), from: stop) } while monitor.wait(for: stop)
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
private final class Observation: Sendable {
    private let source: SystemMemoryPressureSource
    private let id: Int

    init(source: SystemMemoryPressureSource, id: Int) { (self.source, self.id) = (source, id) }

    deinit { source.remove(id) }
}

/// A signal that ends a thread waiting in poll(2): a socket that hangs up when the signal is raised. It is closed when
/// this object is released.
private final class StopSignal: Sendable {
    /// The descriptor that the thread polls.
    let descriptor: Int32
    private let peer: Int32

    /// Creates a signal. Returns nil if the process has no descriptors left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, SocketType.stream | SocketType.closeOnExec, 0, &ends) == 0 else { return nil }
        (descriptor, peer) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(peer)
    }

    func raise() { _ = shutdown(peer, Int32(SHUT_RDWR)) }
}

/// The part of the source that its thread owns: it takes readings at an interval and when a trigger fires.
private struct MemoryPressureMonitor: ~Copyable {
    /// The time for which a trigger is ignored after it fired, so that a faulty trigger that fires continuously does
    /// not keep a processor busy. No event is lost, because a correct trigger fires at most once in two seconds
    /// and stays pending.
    private static let triggerInterval = Duration.seconds(1)

    private let clock: any TimeSource
    private let interval: Duration
    private let read: @Sendable (Bool) -> MemoryReadings

    private var candidates: ArraySlice<@Sendable () -> StallTriggers>
    private var triggers = StallTriggers()
    private var stalls = StallHistory()
    private var decision: MemoryPressureDecision
    private var nextReading: Duration
    private var ignoredUntil: [MemoryPressure: Duration] = [:]

    init(
        sensors: MemoryPressureSensors, interval: Duration, clock: any TimeSource, decision: MemoryPressureDecision
    ) {
        (self.clock, self.interval, self.decision) = (clock, interval, decision)
        read = sensors.read
        candidates = sensors.triggers[...]
        nextReading = clock.uptime
        armNext()
    }

    /// Takes the readings that are due. Returns the level.
    mutating func step() -> MemoryPressure {
        let now = clock.uptime
        if now >= nextReading {
            // Stalls are more reliable than the available memory, which is low on many healthy machines.
            decision.record(read(triggers.armed.isEmpty), at: now)
            for level in stalls.confirm(by: triggers.readCount(), at: now) { decision.record(level, at: now) }
            nextReading = min(now + interval, stalls.nextCheck ?? now + interval)
        }
        return decision.level(at: now)
    }

    /// Waits until the next step is due or a trigger fires. Returns false if the signal is raised.
    mutating func wait(for stop: StopSignal) -> Bool {
        let start = clock.uptime
        let pauses = triggers.armed.map { ignoredUntil[$0.level].flatMap { start < $0 ? $0 : nil } }
        var waits = [pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0)]
        for (trigger, pause) in zip(triggers.armed, pauses) {
            // poll(2) ignores a negative descriptor.
            waits.append(pollfd(fd: pause == nil ? trigger.descriptor : -1, events: Int16(POLLPRI), revents: 0))
        }
        let steps = [nextReading, decision.nextChange(after: start)] + pauses
        // Rounded up, so that the thread does not wake early repeatedly.
        let timeout = ((steps.compactMap { $0 }.min() ?? start) - start) / .milliseconds(1)
        guard poll(&waits, nfds_t(waits.count), Int32(max(0, min(timeout.rounded(.up), 3_600_000)))) >= 0 else {
            // A lack of kernel memory, which is what is left, lasts, and a call after another would occupy a processor.
            if errno != EINTR { usleep(100_000) }
            return true
        }
        let now = clock.uptime
        if waits[1...].contains(where: { $0.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 }) {
            // The group may have been removed, for example. An error is reported together with POLLPRI but is not an
            // event.
            armNext()
            nextReading = now
            return waits[0].revents == 0
        }
        for (index, trigger) in triggers.armed.enumerated() where waits[index + 1].revents != 0 {
            stalls.announce(trigger.level, at: now)
            ignoredUntil[trigger.level] = now + Self.triggerInterval
            nextReading = now
        }
        return waits[0].revents == 0
    }

    /// Closes the current triggers and arms the next available ones. Each is tried once.
    private mutating func armNext() {
        triggers = StallTriggers()
        stalls = StallHistory()
        while triggers.armed.isEmpty, let make = candidates.popFirst() { triggers = make() }
    }
}

/// The sensors that a source's thread reads. Tests supply their own.
struct MemoryPressureSensors: Sendable {
    /// Functions that create triggers, in order of preference. Triggers that could not be armed are skipped.
    var triggers: [@Sendable () -> StallTriggers] = []
    /// Reads the figures. The parameter says whether the figures include the machine's available memory.
    var read: @Sendable (_ includesAvailable: Bool) -> MemoryReadings = { _ in MemoryReadings() }
}

extension MemoryPressureSensors {
    /// Creates sensors for stalls and for figures. The stalls are those of the process's control group or, if the
    /// kernel does not announce these, of the machine. The figures are those of both.
    init(files: SystemFiles) {
        let groups = ControlGroups(files: files)
        let paths = (groups.unified.first.map { [$0 + "/memory.pressure"] } ?? []) + ["/proc/pressure/memory"]
        triggers = paths.map { path in { StallTriggers(arming: files.path(path)) } }
        read = MemoryReader(files: files, groups: groups).read
    }
}
