package import AlcedoRuntime

/// A priority that may change while its work waits or runs. Copies share one priority.
///
/// ```swift
/// let priority = PriorityHandle(.low)
/// let load = Task { try await pipeline.load(request, priority: priority) { _ in } }
/// priority.value = .high
/// ```
///
/// The scheduler of the work observes the priority with ``observing(_:_:)``. When notified, it reads ``value`` under
/// its own lock, so the last reader sees the latest value regardless of the order of notifications.
public struct PriorityHandle: Sendable {
    package let level: AdjustablePriority
    /// The task of the shared work that has the priority; nil for the priority of a caller.
    package var task: SharedTask?

    /// Creates a priority without observers.
    public init(_ value: LoadPriority = .normal) { level = AdjustablePriority(value.level) }

    package init(level: AdjustablePriority, in task: SharedTask? = nil) { (self.level, self.task) = (level, task) }

    /// The current priority. Changing it calls the observers on the current thread.
    public var value: LoadPriority {
        get { LoadPriority(level: level.value) }
        nonmutating set { level.set(newValue.level) }
    }

    /// Sets ``value``, unless a change with the same or a higher version was made. Owners that determine a priority
    /// under a lock and set it outside the lock use this to keep the changes in order.
    package func set(_ value: LoadPriority, version: Int) { level.set(value.level, version: version) }

    /// Runs `body`, and calls `change` at each change of the priority until `body` returns.
    ///
    /// ```swift
    /// let priority = PriorityHandle()
    /// let loaded = try await priority.observing {
    ///     print("The load now has the priority \(priority.value).")
    /// } _: {
    ///     try await load.value
    /// }
    /// ```
    ///
    /// A downloader with a queue of its own moves the request in the queue when the priority changes.
    ///
    /// - Parameters:
    ///   - change: A closure that is called at each change, on any thread. It must not block. Calls for changes that
    ///     were made before `body` ended may follow its end.
    ///   - body: The work that has the priority.
    /// - Returns: The value of `body`.
    /// - Throws: The error of `body`.
    public func observing<Value: Sendable>(
        _ change: @escaping @Sendable () -> Void, _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await level.observing(change, body)
    }
}
