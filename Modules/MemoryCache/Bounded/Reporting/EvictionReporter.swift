import AlcedoCore
import AlcedoLibc

/// Calls a cache's listener, in each thread one call at a time: what leaves because the listener calls the cache waits in
/// line until the listener has returned, so that no chain of such calls grows the stack.
@usableFromInline
struct EvictionReporter<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, Sendable {
    @usableFromInline typealias Listener = @Sendable (MemoryCacheEviction<Key, Value>) -> Void
    private typealias Line = [Departures<Key, Value>]

    @usableFromInline let listener: Listener?
    /// What waits, by thread; a thread is here for as long as its listener runs.
    private let lines = Locked<[UInt: Line]>([:])

    @usableFromInline
    init(_ listener: Listener?) { self.listener = listener }

    @inlinable
    func report(_ gone: Departures<Key, Value>) {
        if let listener, !gone.isEmpty { report(gone, to: listener) }
    }

    @usableFromInline
    func report(_ gone: Departures<Key, Value>, to listener: Listener) {
        let thread = Threads.current
        let isOutermost = lines.withLock { lines in
            guard lines[thread] == nil else {
                lines[thread]?.append(gone)
                return false
            }
            lines[thread] = []
            return true
        }
        guard isOutermost else { return }
        gone.forEach(listener)
        while let line = nextLine(of: thread) {
            for gone in line { gone.forEach(listener) }
        }
    }

    /// nil when nothing waits; then the thread is outside again.
    private func nextLine(of thread: UInt) -> Line? {
        lines.withLock { lines in
            guard let line = lines[thread], !line.isEmpty else {
                lines[thread] = nil
                return nil
            }
            lines[thread] = []
            return line
        }
    }
}
