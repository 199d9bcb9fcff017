#if ALCEDO_THREAD_SANITIZER
    import Synchronization
#endif

/// Orders what was done before a continuation is resumed before what its waiter does next, where the thread sanitizer can
/// see it.
///
/// Swift's runtime orders the two itself. But where a continuation is resumed by another thread before its task has
/// suspended, it does so by an atomic operation in code that is not instrumented (6.3.1), and the value that is passed on is
/// reported as a race, some once in a few hundred thousand times. In builds without ALCEDO_THREAD_SANITIZER the type is
/// empty and its functions do nothing: see `Locked.swift`.
@usableFromInline
package struct ResumptionOrder: ~Copyable, Sendable {
    #if ALCEDO_THREAD_SANITIZER
        private let isResumed = Atomic(false)

        package init() {}

        package borrowing func willResume() {
            // What exchanges a value adds to what others have released before; what stores one would replace it.
            _ = isResumed.exchange(true, ordering: .releasing)
        }

        package borrowing func didResume() { _ = isResumed.load(ordering: .acquiring) }
    #else
        @inlinable package init() {}

        /// Comes before a continuation is resumed, after everything that its waiter is to see.
        @inlinable package borrowing func willResume() {}

        /// Comes in the waiter, before it looks at what it was given.
        @inlinable package borrowing func didResume() {}
    #endif
}
