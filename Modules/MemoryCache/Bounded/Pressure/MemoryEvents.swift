import AlcedoCore

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
