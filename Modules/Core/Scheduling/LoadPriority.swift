public import AlcedoRuntime

/// The priority of a piece of work.
///
/// Waiting work of equal priority begins in order of arrival, with two exceptions: a pipeline processes images before
/// it decodes others, and a downloader can be configured to begin the newest request first.
public enum LoadPriority: Sendable, Comparable, CaseIterable {
    /// The priority below all others.
    case veryLow
    /// The priority of images that will be needed soon, such as prefetched images.
    case low
    /// The default priority.
    case normal
    /// The priority of images that are visible to the user.
    case high
    /// The priority above all others.
    case veryHigh

    init(level: Int) {
        self = Self.allCases.first { $0.level == level } ?? (level < 0 ? .veryLow : .veryHigh)
    }

    /// The priority as a number for AlcedoRuntime. The default priority is 0.
    @inlinable package var level: Int {
        switch self {
        case .veryLow: -2
        case .low: -1
        case .normal: 0
        case .high: 1
        case .veryHigh: 2
        }
    }
}

// AlcedoRuntime represents priorities as numbers. These overloads accept the types of this module.

extension BlockingExecutor {
    package func run<Value: Sendable>(
        priority: LoadPriority, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await run(priority: priority.level, work)
    }

    package func run<Value: Sendable>(
        priority: PriorityHandle, group: String? = nil, goesFirst: Bool = false,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await run(priority: priority.level, group: group, goesFirst: goesFirst, work)
    }
}

extension ByteBudget {
    package func withReservation<Value: Sendable>(
        of byteCount: Int, priority: PriorityHandle, group: String? = nil, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withReservation(of: byteCount, priority: priority.level, group: group, body)
    }

    package func reserve(_ byteCount: Int, priority: PriorityHandle, group: String? = nil) async throws {
        try await reserve(byteCount, priority: priority.level, group: group)
    }

    package func withReservationNow<Value>(
        of byteCount: Int, priority: LoadPriority, group: String? = nil, _ body: () throws -> Value
    ) rethrows -> Value? {
        try withReservationNow(of: byteCount, priority: priority.level, group: group, body)
    }
}

extension WaiterQueue {
    @inlinable
    package mutating func add(_ id: Int, _ element: Member, priority: LoadPriority, atHead: Bool = false) {
        add(id, element, priority: priority.level, atHead: atHead)
    }

    @discardableResult @inlinable
    package mutating func move(_ id: Int, to priority: LoadPriority) -> Bool { move(id, to: priority.level) }
}
