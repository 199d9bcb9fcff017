/// A level of memory pressure. A higher level compares greater.
public enum MemoryPressure: Sendable, Comparable {
    /// Enough memory is available.
    case normal
    /// Memory is low. Caches release at least a part of their images.
    case warning
    /// Memory is almost exhausted. Caches release everything.
    case critical
}

/// A source of memory pressure levels of the machine or the container.
public protocol MemoryPressureSource: Sendable {
    /// Calls `handler` at each change of the level until the returned token is released. The level at the start of the
    /// observation is not reported. The handler may be called on any thread and must not block.
    func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> any Sendable
}
