public import AlcedoCore
import AlcedoRuntime

/// A source of memory pressure whose level a test sets.
///
/// ```swift
/// import AlcedoMemoryCache
/// import AlcedoTesting
///
/// let source = ManualMemoryPressureSource()
/// let cache = ImageMemoryCache(costLimit: 64 << 20, pressureSource: source)
/// source.set(.critical)
/// ```
///
/// Observers are called before ``set(_:)`` returns, on the thread that calls it. Calls may come from any thread. When
/// another thread or an observer sets a level during the call, the order in which observers receive the levels is
/// undefined.
public final class ManualMemoryPressureSource: MemoryPressureSource {
    private let current: Locked<MemoryPressure>
    private let observers = Observers<MemoryPressure>()

    /// Creates a source of memory pressure.
    ///
    /// - Parameter level: The initial level. Default: `normal`.
    public init(level: MemoryPressure = .normal) { current = Locked(level) }

    package var level: MemoryPressure { current.withLock { $0 } }

    /// The number of active observations.
    package var observerCount: Int { observers.count }

    /// Sets the level and, if the level changes, calls the observers.
    ///
    /// Observers are called in the order in which they were added, outside any lock. They may add and remove observers.
    /// An observer that is added during the call is first called at the next change.
    public func set(_ level: MemoryPressure) {
        let call = current.withLock { current -> (() -> Void)? in
            guard current != level else { return nil }
            current = level
            return observers.call(with: level)
        }
        call?()
    }

    /// Calls `handler` at each change of the level until the returned token is released. Does not call it for the
    /// current level. A call of ``set(_:)`` in progress on another thread may still call it after the release.
    public func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> any Sendable {
        observers.add(handler)
    }
}
