#if ALCEDO_THREAD_SANITIZER
    public import AlcedoLibc
#else
    public import Synchronization
#endif

// The thread sanitizer reports false races if it does not see an atomic operation: in the kernel, which hands over a
// contended `Mutex`, and in Swift's runtime (6.3.1), which resumes a continuation whose task has not suspended yet.
// `Scripts/test --sanitize=thread` therefore defines ALCEDO_THREAD_SANITIZER. With it, `Locked` and `ResumptionOrder`
// use operations that the sanitizer knows, so that a run without reports is meaningful. Other builds are not affected.

#if ALCEDO_THREAD_SANITIZER
    /// A value that one thread at a time can access, protected by a lock of the C library.
    ///
    /// `@unchecked` because of the pointers: every access to `value` is under `mutex`.
    @usableFromInline
    package struct Locked<Value: Sendable>: ~Copyable, @unchecked Sendable {
        @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
        @usableFromInline let value: UnsafeMutablePointer<Value>

        @inlinable
        package init(_ initial: consuming Value) {
            mutex = .allocate(capacity: 1)
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
            value = .allocate(capacity: 1)
            value.initialize(to: initial)
        }

        @inlinable
        deinit {
            value.deinitialize(count: 1)
            value.deallocate()
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        /// Runs `body` with exclusive access to the value.
        @inlinable
        package borrowing func withLock<Result, E: Error>(
            _ body: (inout Value) throws(E) -> Result
        ) throws(E) -> Result {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }

        /// Runs `body` with exclusive access to the value. Returns nil if another thread has access.
        @inlinable
        package borrowing func withLockIfAvailable<Result>(_ body: (inout Value) -> Result) -> Result? {
            guard pthread_mutex_trylock(mutex) == 0 else { return nil }
            defer { pthread_mutex_unlock(mutex) }
            return body(&value.pointee)
        }
    }
#else
    /// A value that one thread at a time can access.
    ///
    /// Hold the lock for a few memory accesses only, and never during input or output, a callback, or an operation that
    /// waits. The lock is not recursive. It is a `Mutex` whose results need not be `Sendable`.
    @usableFromInline
    package struct Locked<Value: Sendable>: ~Copyable, Sendable {
        @usableFromInline let mutex: Mutex<Value>

        @inlinable
        package init(_ initial: consuming Value) { mutex = Mutex(initial) }

        /// Runs `body` with exclusive access to the value.
        @inlinable
        package borrowing func withLock<Result, E: Error>(
            _ body: (inout Value) throws(E) -> Result
        ) throws(E) -> Result {
            try mutex.withLock { (value) throws(E) in
                // The result stays with the caller, whose closure created it.
                nonisolated(unsafe) let result = try body(&value)
                return result
            }
        }

        /// Runs `body` with exclusive access to the value. Returns nil if another thread has access.
        @inlinable
        package borrowing func withLockIfAvailable<Result>(_ body: (inout Value) -> Result) -> Result? {
            mutex.withLockIfAvailable { value in
                nonisolated(unsafe) let result = body(&value)
                return result
            }
        }
    }
#endif
