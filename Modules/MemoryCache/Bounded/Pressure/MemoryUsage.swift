import AlcedoCore

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
