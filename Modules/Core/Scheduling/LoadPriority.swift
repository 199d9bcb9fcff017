public import AlcedoRuntime

/// How urgent a piece of work is. Work of equal priority runs in the order it came.
public enum LoadPriority: Sendable, Comparable, CaseIterable {
    /// After everything else.
    case veryLow
    /// What will be wanted soon, such as prefetched images.
    case low
    /// The default.
    case normal
    /// What somebody looks at.
    case high
    /// Before everything else.
    case veryHigh

    init(level: Int) {
        self = Self.allCases.first { $0.level == level } ?? (level < 0 ? .veryLow : .veryHigh)
    }

    /// The priority as a number, as AlcedoRuntime takes it: 0 is the default.
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

/// A priority that may change while the work it is of waits or runs.
///
/// Whoever does the work observes it, and asks for ``value`` under a lock of its own when it is told of a change: so the
/// last one to look has the last word, whatever order the changes arrive in. Copies share one priority.
public struct PriorityHandle: Sendable {
    package let level: AdjustablePriority

    /// A priority that nobody observes yet.
    public init(_ value: LoadPriority = .normal) { level = AdjustablePriority(value.level) }

    package init(level: AdjustablePriority) { self.level = level }

    /// The priority as it is now. Setting it calls the observers on this thread.
    public var value: LoadPriority {
        get { LoadPriority(level: level.value) }
        nonmutating set { level.set(newValue.level) }
    }

    /// As setting ``value``, unless a change with a higher number has been made: for owners who find out under a lock, and tell
    /// outside it.
    package func set(_ value: LoadPriority, version: Int) { level.set(value.level, version: version) }

    /// Calls `change` at each change while `body` runs. It may come from any thread and must not block; one last call may
    /// come when `body` has ended. Throws what `body` throws.
    package func observing<Value: Sendable>(
        _ change: @escaping @Sendable () -> Void, _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await level.observing(change, body)
    }
}

// AlcedoRuntime knows priorities as numbers. These take them as everybody else does.

extension BlockingExecutor {
    package func run<Value: Sendable>(
        priority: LoadPriority, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await run(priority: priority.level, work)
    }

    package func run<Value: Sendable>(
        priority: PriorityHandle, goesFirst: Bool = false, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await run(priority: priority.level, goesFirst: goesFirst, work)
    }
}

extension ByteBudget {
    package func withReservation<Value: Sendable>(
        of byteCount: Int, priority: PriorityHandle, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withReservation(of: byteCount, priority: priority.level, body)
    }

    package func reserve(_ byteCount: Int, priority: PriorityHandle) async throws {
        try await reserve(byteCount, priority: priority.level)
    }

    package func withReservationNow<Value>(
        of byteCount: Int, priority: LoadPriority, _ body: () throws -> Value
    ) rethrows -> Value? {
        try withReservationNow(of: byteCount, priority: priority.level, body)
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
