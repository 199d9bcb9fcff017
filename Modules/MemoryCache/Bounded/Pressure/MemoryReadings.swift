import AlcedoCore

/// The figures of one reading.
struct MemoryReadings: Sendable, Equatable {
    /// The level according to the figures that describe a state, not an event: the worst of the control groups' usages
    /// and the available memory.
    var level = MemoryPressure.normal
    /// The counters of the process's own control group; nil if the system does not provide them.
    var events: MemoryEvents?
    /// The stall times of the process's own control group or, if the system did not count these when the reader
    /// was made, of the machine.
    var stalls: StallCount?
}

/// A reader of the memory figures of this process's control groups and of the machine.
///
/// The groups are determined once. The reader does not follow a process that is moved to another group.
struct MemoryReader: Sendable {
    private let files: SystemFiles
    private let groups: ControlGroups
    /// The path of the stall times. It stays the same, because the times of a group and of the machine differ by far,
    /// so a change from one to the other would look like a stall.
    private let stalls: String

    init(files: SystemFiles) {
        self.files = files
        groups = ControlGroups(files: files)
        let own = groups.unified.first.map { $0 + "/memory.pressure" }
        stalls = own.flatMap { files.stallCount($0) == nil ? nil : $0 } ?? "/proc/pressure/memory"
    }

    /// Reads the figures: up to six small files per control group, and one or two for the machine.
    @Sendable func read() -> MemoryReadings {
        var levels = groups.unified.compactMap {
            level(of: $0, usage: "memory.current", inactive: "inactive_file", max: "memory.max", high: "memory.high")
        }
        // The usage of cgroup v1 includes the group's descendants, so the inactive file cache must include them, too.
        let legacy = groups.memory.flatMap {
            level(
                of: $0, usage: "memory.usage_in_bytes", inactive: "total_inactive_file", max: "memory.limit_in_bytes")
        }
        if let legacy { levels.append(legacy) }
        let own = groups.unified.first
        let stalls = files.stallCount(stalls)
        // Stall times are more reliable than the available memory, which is low on many healthy machines. Kernels
        // before 3.14 do not report `MemAvailable`.
        if stalls == nil, let text = files.contents("/proc/meminfo"),
            let available = KernelText.byteCount(after: "MemAvailable:", in: text),
            let total = KernelText.byteCount(after: "MemTotal:", in: text)
        {
            levels.append(MemoryPressure(available: available, of: total))
        }
        let events = own.flatMap { files.contents($0 + "/memory.events") }.map(MemoryEvents.init(_:))
        return MemoryReadings(level: levels.max() ?? .normal, events: events, stalls: stalls)
    }

    /// Returns the level of a group. Returns nil if the group has no limit or does not report its usage.
    private func level(
        of group: String, usage: String, inactive: String, max: String, high: String? = nil
    ) -> MemoryPressure? {
        let limits = [high, max].map { name in
            name.flatMap { files.contents("\(group)/\($0)") }.flatMap(KernelText.limit)
        }
        guard limits.contains(where: { $0 != nil }),
            let current = files.contents("\(group)/\(usage)").flatMap(KernelText.number)
        else { return nil }
        // The kernel can reclaim inactive file pages.
        let reclaimable = files.contents(group + "/memory.stat").flatMap { KernelText.number(after: inactive, in: $0) }
        return MemoryPressure(used: current - (reclaimable ?? 0), high: limits[0], max: limits[1])
    }
}

extension SystemFiles {
    /// Returns the stall times in a file, or nil if the file does not provide them.
    fileprivate func stallCount(_ path: String) -> StallCount? { contents(path).flatMap(StallCount.init) }
}

/// The total time for which tasks have been stalled because memory was short, in microseconds. It only rises.
///
/// Source: accounting/psi.rst, "Pressure interface".
struct StallCount: Sendable, Equatable {
    /// The time for which some tasks were stalled.
    var some: Int
    /// The time for which all tasks were stalled at once.
    var full: Int

    /// Returns the level that corresponds to the share of stalls in the time since an earlier count. The kernel updates
    /// the counts every two seconds, so a shorter time counts as two seconds.
    func level(since earlier: StallCount, within time: Duration) -> MemoryPressure {
        let microseconds = max(time, .seconds(2)) / .microseconds(1)
        if Double(full - earlier.full) >= 0.075 * microseconds { return .critical }
        return Double(some - earlier.some) >= 0.05 * microseconds ? .warning : .normal
    }
}

extension StallCount {
    /// Parses the figures `total` in the text of a pressure file. Returns nil if one is missing.
    init?(_ text: [UInt8]) {
        guard let some = KernelText.number(of: "total", after: "some", in: text),
            let full = KernelText.number(of: "total", after: "full", in: text)
        else { return nil }
        self.init(some: some, full: full)
    }
}

/// The counters of a control group's `memory.events`. They only rise while the group exists.
///
/// Source: admin-guide/cgroup-v2.rst, "memory.events".
struct MemoryEvents: Sendable, Equatable {
    /// The number of times the group was throttled above `memory.high`.
    var high: Int?
    /// The number of times the group was about to exceed `memory.max`.
    var max: Int?
    /// The number of times an allocation was about to fail.
    var oom: Int?

    /// Returns the level that corresponds to the events since an earlier reading. A counter that fell belongs to
    /// another group and is ignored.
    func level(since earlier: MemoryEvents) -> MemoryPressure {
        func rises(_ counter: KeyPath<MemoryEvents, Int?>) -> Bool {
            guard let before = earlier[keyPath: counter], let now = self[keyPath: counter] else { return false }
            return now > before
        }
        if rises(\.oom) { return .critical }
        // `max` also rises when file cache alone fills the group. The kernel then reclaims the cache, so the level is
        // not critical.
        return rises(\.high) || rises(\.max) ? .warning : .normal
    }
}

extension MemoryEvents {
    /// Parses the text of `memory.events`.
    init(_ text: [UInt8]) {
        high = KernelText.number(after: "high", in: text)
        max = KernelText.number(after: "max", in: text)
        oom = KernelText.number(after: "oom", in: text)
    }
}

extension MemoryPressure {
    /// The level of a control group. It is critical only near `max`: a group that exceeds `high` is throttled, but its
    /// processes are not killed.
    ///
    /// Source: admin-guide/cgroup-v2.rst, "memory.high".
    ///
    /// - Parameters:
    ///   - used: The memory in use, in bytes, without memory that the kernel can reclaim.
    ///   - high: The limit above which the kernel throttles the group, in bytes; nil if there is none.
    ///   - max: The limit above which the kernel kills processes of the group, in bytes; nil if there is none.
    init(used: Int, high: Int?, max: Int?) {
        func reaches(_ share: Double, of limit: Int?) -> Bool {
            limit.map { Double(Swift.max(0, used)) >= Double($0) * share } ?? false
        }
        let isNear = reaches(0.90, of: max) || reaches(0.90, of: high)
        self = reaches(0.97, of: max) ? .critical : isNear ? .warning : .normal
    }

    /// The level of a machine, from the memory available to programs without swapping and the memory of the machine.
    ///
    /// Source: filesystems/proc.rst, "meminfo".
    init(available: Int, of total: Int) {
        let share = total > 0 ? Double(available) / Double(total) : 1
        self = share < 0.05 ? .critical : share < 0.10 ? .warning : .normal
    }
}
