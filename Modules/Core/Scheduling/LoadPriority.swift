public import AlcedoRuntime

/// The priority of a piece of work. Work of equal priority runs in order of arrival.
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

/// A priority that may change while its work waits or runs. Copies share one priority.
///
/// ```swift
/// let priority = PriorityHandle(.low)
/// let load = Task { try await pipeline.load(request, priority: priority) { _ in } }
/// priority.value = .high
/// ```
///
/// The scheduler of the work observes the priority. When notified, it reads ``value`` under its own lock, so the last
/// reader sees the latest value regardless of the order of notifications.
public struct PriorityHandle: Sendable {
    package let level: AdjustablePriority

    /// Creates a priority without observers.
    public init(_ value: LoadPriority = .normal) { level = AdjustablePriority(value.level) }

    package init(level: AdjustablePriority) { self.level = level }

    /// The current priority. Setting it calls the observers on the current thread.
    public var value: LoadPriority {
        get { LoadPriority(level: level.value) }
        nonmutating set { level.set(newValue.level) }
    }

    /// Sets ``value``, unless a change with a higher version was made. Owners that determine a priority under a lock
    /// and set it outside the lock use this to keep the changes in order.
    package func set(_ value: LoadPriority, version: Int) { level.set(value.level, version: version) }

    /// Runs `body`, and calls `change` at each change of the priority until `body` returns. `change` may be called on
    /// any thread and must not block. One last call may follow the end of `body`. Throws the errors of `body`.
    package func observing<Value: Sendable>(
        _ change: @escaping @Sendable () -> Void, _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await level.observing(change, body)
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
