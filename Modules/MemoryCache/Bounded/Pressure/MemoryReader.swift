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
