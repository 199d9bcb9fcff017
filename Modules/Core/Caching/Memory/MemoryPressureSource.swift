/// Tells when the machine, or the container, is short of memory.
public protocol MemoryPressureSource: Sendable {
    /// Calls `handler` at each change of the level until the returned token is let go. The handler may come from any
    /// thread and must not block.
    func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> any Sendable
}
