public import AlcedoCore
import AlcedoRuntime

/// A source that reports when this process's control group, or the machine, is short of memory.
///
/// ```swift
/// import AlcedoMemoryCache
///
/// let source = SystemMemoryPressureSource(interval: .seconds(1), holdDuration: .seconds(10))
/// let images = ImageMemoryCache(costLimit: 128 << 20, pressureSource: source)
/// ```
///
/// At every interval, the source reads the stall times that the kernel counts, the usage and the limits of the control
/// group, and the machine's available memory, as far as the system provides them. The page of the module has the
/// thresholds. A level holds for `holdDuration` after its last sign, 10 seconds by default. System errors are ignored.
///
/// Without observers, the source reads nothing. It takes the first reading when the first observer is added.
///
/// - SeeAlso: accounting/psi.rst, admin-guide/cgroup-v2.rst ("Memory Interface Files"),
///   admin-guide/cgroup-v1/memory.rst and filesystems/proc.rst ("meminfo") in the kernel's documentation.
public final class SystemMemoryPressureSource: MemoryPressureSource {
    private struct State: Sendable {
        /// The task that takes the readings, with its number; nil without observers.
        var run: (id: Int, task: Task<Void, Never>)?
        var lastRun = 0
        var decision: MemoryPressureDecision
        var level = MemoryPressure.normal
    }

    /// The shared source with the default configuration. All its observers share its readings.
    public static let shared = SystemMemoryPressureSource()

    private let observers = Observers<MemoryPressure>()
    private let state: Locked<State>
    private let interval: Duration
    private let holdDuration: Duration
    private let clock: any TimeSource
    private let makeReader: @Sendable () -> @Sendable () -> MemoryReadings
    private let executor = BlockingExecutor(name: "alcedo.memory-pressure", maxConcurrent: 1)

    /// Creates a source, which reads nothing until it has an observer.
    ///
    /// - Parameters:
    ///   - interval: The time between two readings. Default: 2 seconds, as often as the kernel updates the stall times.
    ///     Minimum: 1 millisecond.
    ///   - holdDuration: The time for which a level holds after its last sign. Default: 10 seconds.
    public convenience init(interval: Duration = .seconds(2), holdDuration: Duration = .seconds(10)) {
        self.init(root: "/", interval: interval, holdDuration: holdDuration)
    }

    /// Creates a source that reads the kernel's files below a directory. This absolute path prefixes the paths of the
    /// files below `/proc` and of the mounted control groups.
    package convenience init(
        root: String, interval: Duration = .seconds(2), holdDuration: Duration = .seconds(10)
    ) {
        self.init(interval: interval, holdDuration: holdDuration, clock: SystemClock()) {
            MemoryReader(files: SystemFiles(root: root)).read
        }
    }

    /// Creates a source with its own clock and reader, which is made when the first observer is added.
    init(
        interval: Duration, holdDuration: Duration, clock: any TimeSource,
        makeReader: @escaping @Sendable () -> @Sendable () -> MemoryReadings
    ) {
        self.interval = max(.milliseconds(1), interval)
        self.holdDuration = holdDuration
        self.clock = clock
        self.makeReader = makeReader
        state = Locked(State(decision: MemoryPressureDecision(holdDuration: holdDuration)))
    }

    /// Calls `handler` at each change of the level until the returned token is released.
    ///
    /// The source does not report the level that it had before the call, so an observer should assume `normal` at
    /// first. The source calls handlers one after the other, on a thread of its own, outside any lock. A handler may
    /// add and remove observers. A call that is in progress may end after its token is released. The token keeps the
    /// observation alive even if the source is released.
    public func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> any Sendable {
        let token = observers.add(handler) { self.updateRun() }
        updateRun()
        return token
    }

    /// Begins or ends the readings. They run while there are observers.
    private func updateRun() {
        let ended = state.withLock { state -> Task<Void, Never>? in
            guard observers.count > 0 else { return state.run.take()?.task }
            guard state.run == nil else { return nil }
            state.decision = MemoryPressureDecision(holdDuration: holdDuration)
            state.level = .normal
            state.lastRun += 1
            state.run = (state.lastRun, Task { [run = state.lastRun] in await self.watch(run) })
            return nil
        }
        ended?.cancel()
    }

    /// Takes readings until the task is canceled.
    private func watch(_ run: Int) async {
        guard let read = try? await executor.run(makeReader) else { return }
        repeat {
            try? await executor.run { [self] in report(read(), of: run) }
        } while (try? await clock.sleep(for: interval)) != nil
    }

    private func report(_ readings: MemoryReadings, of run: Int) {
        let now = clock.uptime
        let call = state.withLock { state -> (() -> Void)? in
            // Readings of a canceled task are ignored.
            guard state.run?.id == run else { return nil }
            state.decision.record(readings, at: now)
            let (old, new) = (state.level, state.decision.level(at: now))
            state.level = new
            return old == new ? nil : observers.call(with: new)
        }
        call?()
    }
}
