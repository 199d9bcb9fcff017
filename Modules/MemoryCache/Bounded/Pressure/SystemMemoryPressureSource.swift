public import AlcedoCore

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

    /// Reads nothing yet.
    public convenience init(configuration: Configuration = Configuration()) {
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
