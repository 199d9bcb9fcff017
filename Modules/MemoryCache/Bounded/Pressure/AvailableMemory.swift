import AlcedoCore

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
