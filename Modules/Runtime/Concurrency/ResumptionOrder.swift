#if ALCEDO_THREAD_SANITIZER
    import Synchronization
#endif

/// An order that the thread sanitizer sees: operations before the resumption of a continuation happen before those of
/// its waiter.
///
/// Swift's runtime guarantees this order. However, if another thread resumes a continuation before its task has
/// suspended, the runtime (6.3.1) uses an atomic operation in code that is not instrumented. The sanitizer then reports
/// the passed value as a race, for some values once in a few hundred thousand resumptions. In builds without
/// ALCEDO_THREAD_SANITIZER, the type is empty and its functions do nothing: see `Locked.swift`.
@usableFromInline
package struct ResumptionOrder: ~Copyable, Sendable {
    #if ALCEDO_THREAD_SANITIZER
        private let isResumed = Atomic(false)

        @usableFromInline package init() {}

        @usableFromInline package borrowing func willResume() {
            // An exchange continues the release sequence of other threads, which a store would end.
            _ = isResumed.exchange(true, ordering: .releasing)
        }

        @usableFromInline package borrowing func didResume() { _ = isResumed.load(ordering: .acquiring) }
    #else
        @inlinable package init() {}

        /// Call this before resuming a continuation, after every operation that its waiter must see.
        @inlinable package borrowing func willResume() {}

        /// Call this in the waiter, before it accesses the value that it received.
        @inlinable package borrowing func didResume() {}
    #endif
}
