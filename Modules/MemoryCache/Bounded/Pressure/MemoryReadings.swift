import AlcedoCore

/// The figures of one look at the system; what it does not offer is missing.
struct MemoryReadings: Sendable, Equatable {
    var events: MemoryEvents?
    /// One a control group that has a limit.
    var usages: [MemoryUsage] = []
    var available: AvailableMemory?

    /// What the figures that tell a state, not an event, say.
    var level: MemoryPressure { max(available?.level ?? .normal, usages.map(\.level).max() ?? .normal) }
}

/// Reads the figures of this process's control groups, or of the machine.
///
/// The groups are looked for once: a process that is moved to another group is not followed.
struct MemoryReader: Sendable {
    private let files: SystemFiles
    private let groups: ControlGroups

    init(files: SystemFiles, groups: ControlGroups) { (self.files, self.groups) = (files, groups) }

    /// Looks once. Up to five small files a control group, and one for the machine.
    ///
    /// - Parameter includesAvailable: Whether to ask how much memory the machine has left.
    func read(includesAvailable: Bool) -> MemoryReadings {
        var readings = MemoryReadings()
        readings.events = groups.unified.first.flatMap { files.contents($0 + "/memory.events") }.map {
            MemoryEvents($0)
        }
        readings.usages = groups.unified.compactMap(usage) + (groups.memory.flatMap(legacyUsage).map { [$0] } ?? [])
        if includesAvailable { readings.available = files.contents("/proc/meminfo").flatMap { AvailableMemory($0) } }
        return readings
    }

    /// nil when the group of cgroup v2 has no limit, or does not tell its use.
    private func usage(of group: String) -> MemoryUsage? {
        let high = files.contents(group + "/memory.high").flatMap(KernelText.limit)
        let max = files.contents(group + "/memory.max").flatMap(KernelText.limit)
        guard high != nil || max != nil,
            let current = files.contents(group + "/memory.current").flatMap(KernelText.number)
        else { return nil }
        let inactive = inactiveFile(of: group, "inactive_file")
        return MemoryUsage(current: current, inactiveFile: inactive, high: high, max: max)
    }

    /// nil when the group of cgroup v1 has no limit, or does not tell its use.
    private func legacyUsage(of group: String) -> MemoryUsage? {
        guard let max = files.contents(group + "/memory.limit_in_bytes").flatMap(KernelText.limit),
            let current = files.contents(group + "/memory.usage_in_bytes").flatMap(KernelText.number)
        else { return nil }
        // With its descendants, as the use is.
        return MemoryUsage(current: current, inactiveFile: inactiveFile(of: group, "total_inactive_file"), max: max)
    }

    private func inactiveFile(of group: String, _ key: String) -> Int {
        files.contents(group + "/memory.stat").flatMap { KernelText.number(after: key, in: $0) } ?? 0
    }
}

/// Counters of a control group's `memory.events`; they only rise while the group lives.
///
/// Source: admin-guide/cgroup-v2.rst, "memory.events".
struct MemoryEvents: Sendable, Equatable {
    /// How often the group was throttled above `memory.high`.
    var high: Int?
    /// How often the group was about to exceed `memory.max`.
    var max: Int?
    /// How often an allocation was about to fail.
    var oom: Int?

    init(high: Int? = nil, max: Int? = nil, oom: Int? = nil) {
        (self.high, self.max, self.oom) = (high, max, oom)
    }

    /// - Parameter text: The text of `memory.events`.
    init(_ text: [UInt8]) {
        high = KernelText.number(after: "high", in: text)
        max = KernelText.number(after: "max", in: text)
        oom = KernelText.number(after: "oom", in: text)
    }

    /// What has happened since an earlier reading. A counter that fell belongs to another group: it says nothing.
    func level(since earlier: MemoryEvents) -> MemoryPressure {
        if Self.rises(earlier.oom, oom) { return .critical }
        // `max` rises also when file cache alone fills the group, which the kernel then takes back.
        return Self.rises(earlier.high, high) || Self.rises(earlier.max, max) ? .warning : .normal
    }

    private static func rises(_ earlier: Int?, _ now: Int?) -> Bool {
        guard let earlier, let now else { return false }
        return now > earlier
    }
}

/// How much of its limits a control group uses, in bytes.
struct MemoryUsage: Sendable, Equatable {
    private static let warningShare = 0.90
    private static let criticalShare = 0.97

    /// Memory in use that the kernel cannot take back by dropping file pages nobody has touched lately.
    var used: Int
    /// Above this the group is slowed down.
    var high: Int?
    /// Above this processes of the group are killed.
    var max: Int?

    /// - Parameters:
    ///   - current: All memory that counts towards the limits, in bytes.
    ///   - inactiveFile: The part of it that is inactive file cache. Figures are read one after the other, so it may
    ///     come out larger than the whole.
    init(current: Int, inactiveFile: Int, high: Int? = nil, max: Int? = nil) {
        used = Swift.max(0, current - Swift.max(0, inactiveFile))
        (self.high, self.max) = (high, max)
    }

    /// Critical only near `max`: exceeding `high` slows a group down, and never kills.
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

/// How much memory programs can have without swapping, in bytes.
///
/// Source: filesystems/proc.rst, "meminfo".
struct AvailableMemory: Sendable, Equatable {
    private static let warningShare = 0.10
    private static let criticalShare = 0.05

    var available: Int
    var total: Int

    init(available: Int, total: Int) { (self.available, self.total) = (available, total) }

    /// - Parameter text: The text of /proc/meminfo.
    /// - Returns: nil when a figure is missing; kernels before 3.14 do not tell `MemAvailable`.
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
