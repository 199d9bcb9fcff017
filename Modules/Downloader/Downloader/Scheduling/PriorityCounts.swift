import AlcedoCore

/// How many wish for each priority, without an allocation.
struct PriorityCounts: Sendable {
    private var counts = SIMD8<UInt32>()

    /// The highest that anybody wishes for.
    var highest: LoadPriority? { LoadPriority.allCases.last { counts[$0.rawValue] > 0 } }

    mutating func add(_ priority: LoadPriority) { counts[priority.rawValue] += 1 }

    mutating func remove(_ priority: LoadPriority) {
        if counts[priority.rawValue] > 0 { counts[priority.rawValue] -= 1 }
    }
}
