import Synchronization

/// Orders what was done before a continuation is resumed before what its waiter does next, where the thread sanitizer can
/// see it.
///
/// Swift's runtime orders the two itself. But where a continuation is resumed by another thread before its task has come
/// to rest, it does so by an atomic operation in code that is not instrumented (6.3.1), and what is handed over is
/// reported as a race, some once in a few hundred thousand times. With an operation on both sides that the sanitizer knows,
/// its silence means something. Each costs a few nanoseconds.
package struct ResumptionOrder: ~Copyable, Sendable {
    private let isResumed = Atomic(false)

    package init() {}

    /// Comes before a continuation is resumed, after everything that its waiter is to see.
    package borrowing func willResume() {
        // What exchanges a value adds to what others have released before; what stores one would replace it.
        _ = isResumed.exchange(true, ordering: .releasing)
    }

    /// Comes in the waiter, before it looks at what it was given.
    package borrowing func didResume() { _ = isResumed.load(ordering: .acquiring) }
}
