import AlcedoCore

/// The figures of one reading. Figures that the system does not provide are missing.
struct MemoryReadings: Sendable, Equatable {
    var events: MemoryEvents?
    /// The memory usage of each control group that has a limit.
    var usages: [MemoryUsage] = []
    var available: AvailableMemory?

    /// The level according to the figures that describe a state, not an event.
    var level: MemoryPressure { max(available?.level ?? .normal, usages.map(\.level).max() ?? .normal) }
}

/// A reader of the memory figures of this process's control groups and of the machine.
///
/// The groups are determined once. The reader does not follow a process that is moved to another group.
struct MemoryReader: Sendable {
    private let files: SystemFiles
    private let groups: ControlGroups

    init(files: SystemFiles, groups: ControlGroups) { (self.files, self.groups) = (files, groups) }

    /// Reads the figures: up to five small files per control group, and one for the machine.
    ///
    /// - Parameter includesAvailable: Whether to read the memory available on the machine.
    func read(includesAvailable: Bool) -> MemoryReadings {
        var readings = MemoryReadings()
        readings.events = groups.unified.first.flatMap { files.contents($0 + "/memory.events") }.map {
            MemoryEvents($0)
        }
        readings.usages = groups.unified.compactMap(usage) + (groups.memory.flatMap(legacyUsage).map { [$0] } ?? [])
        if includesAvailable { readings.available = files.contents("/proc/meminfo").flatMap { AvailableMemory($0) } }
        return readings
    }

    /// Returns the usage of a group of cgroup v2; nil if the group has no limit or does not report its usage.
    private func usage(of group: String) -> MemoryUsage? {
        let high = files.contents(group + "/memory.high").flatMap(KernelText.limit)
        let max = files.contents(group + "/memory.max").flatMap(KernelText.limit)
        guard high != nil || max != nil,
            let current = files.contents(group + "/memory.current").flatMap(KernelText.number)
        else { return nil }
        let inactive = inactiveFile(of: group, "inactive_file")
        return MemoryUsage(current: current, inactiveFile: inactive, high: high, max: max)
    }

    /// Returns the usage of a group of cgroup v1; nil if the group has no limit or does not report its usage.
    private func legacyUsage(of group: String) -> MemoryUsage? {
        guard let max = files.contents(group + "/memory.limit_in_bytes").flatMap(KernelText.limit),
            let current = files.contents(group + "/memory.usage_in_bytes").flatMap(KernelText.number)
        else { return nil }
        // The usage includes the group's descendants, so the inactive file cache must include them as well.
        return MemoryUsage(current: current, inactiveFile: inactiveFile(of: group, "total_inactive_file"), max: max)
    }

    private func inactiveFile(of group: String, _ key: String) -> Int {
        files.contents(group + "/memory.stat").flatMap { KernelText.number(after: key, in: $0) } ?? 0
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

    init(high: Int? = nil, max: Int? = nil, oom: Int? = nil) {
        (self.high, self.max, self.oom) = (high, max, oom)
    }

    /// Parses the text of `memory.events`.
    init(_ text: [UInt8]) {
        high = KernelText.number(after: "high", in: text)
        max = KernelText.number(after: "max", in: text)
        oom = KernelText.number(after: "oom", in: text)
    }

    /// Returns the level that corresponds to the events since an earlier reading. A counter that fell belongs to
    /// another group and is ignored.
    func level(since earlier: MemoryEvents) -> MemoryPressure {
        if Self.rises(earlier.oom, oom) { return .critical }
        // `max` also rises when file cache alone fills the group. The kernel then reclaims the cache, so the level is
        // not critical.
        return Self.rises(earlier.high, high) || Self.rises(earlier.max, max) ? .warning : .normal
    }

    private static func rises(_ earlier: Int?, _ now: Int?) -> Bool {
        guard let earlier, let now else { return false }
        return now > earlier
    }
}

/// The memory usage of a control group and its limits, in bytes.
struct MemoryUsage: Sendable, Equatable {
    private static let warningShare = 0.90
    private static let criticalShare = 0.97

    /// The memory in use, without inactive file pages, which the kernel can reclaim.
    var used: Int
    /// The limit above which the kernel throttles the group.
    var high: Int?
    /// The limit above which the kernel kills processes of the group.
    var max: Int?

    /// Creates a usage.
    ///
    /// - Parameters:
    ///   - current: All memory that counts towards the limits, in bytes.
    ///   - inactiveFile: The part of `current` that is inactive file cache, in bytes. The kernel's figures are read one
    ///     after the other, so this part may exceed `current`.
    ///   - high: The limit `memory.high`, in bytes; nil if there is none.
    ///   - max: The limit `memory.max`, in bytes; nil if there is none.
    init(current: Int, inactiveFile: Int, high: Int? = nil, max: Int? = nil) {
        used = Swift.max(0, current - Swift.max(0, inactiveFile))
        (self.high, self.max) = (high, max)
    }

    /// The level of this usage. It is critical only near `max`: a group that exceeds `high` is throttled, but its
    /// processes are not killed.
    ///
    /// Source: admin-guide/cgroup-v2.rst, "memory.high".
    var level: MemoryPressure {
        if reaches(Self.criticalShare, of: max) { return .critical }
        return reaches(Self.warningShare, of: max) || reaches(Self.warningShare, of: high) ? .warning : .normal
    }

    private func reaches(_ share: Double, of limit: Int?) -> Bool {
        guard let limit else { return false }
        return Double(used) >= Double(limit) * share
    }
}

/// The memory available to programs without swapping, in bytes.
///
/// Source: filesystems/proc.rst, "meminfo".
struct AvailableMemory: Sendable, Equatable {
    private static let warningShare = 0.10
    private static let criticalShare = 0.05

    var available: Int
    var total: Int

    init(available: Int, total: Int) { (self.available, self.total) = (available, total) }

    /// Parses the text of /proc/meminfo.
    ///
    /// Returns nil if a figure is missing. Kernels before 3.14 do not report `MemAvailable`.
    init?(_ text: [UInt8]) {
        guard let available = KernelText.byteCount(after: "MemAvailable:", in: text),
            let total = KernelText.byteCount(after: "MemTotal:", in: text)
        else { return nil }
        self.init(available: available, total: total)
    }

    var level: MemoryPressure {
        guard total > 0 else { return .normal }
        let share = Double(available) / Double(total)
        if share < Self.criticalShare { return .critical }
        return share < Self.warningShare ? .warning : .normal
    }
}
