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
