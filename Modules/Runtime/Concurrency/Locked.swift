#if ALCEDO_THREAD_SANITIZER
    public import AlcedoLibc
#else
    public import Synchronization
#endif

// The thread sanitizer reports races that are none where an atomic operation happens in code that it does not see: in the
// kernel, which passes a contended `Mutex` on, and in Swift's runtime, which resumes a continuation whose task has not
// suspended yet (6.3.1). `Scripts/test --sanitize=thread` therefore sets ALCEDO_THREAD_SANITIZER, and the types of this
// file then use operations that it knows, so that its silence means something. Other builds have no trace of them.

#if ALCEDO_THREAD_SANITIZER
    /// A value that one thread at a time may see, by a lock of the C library.
    ///
    /// `@unchecked` because of the pointers: all access to `value` is under `mutex`.
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

        /// Runs `body` on the value, alone.
        @inlinable
        package borrowing func withLock<Result, E: Error>(
            _ body: (inout Value) throws(E) -> Result
        ) throws(E) -> Result {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }
#else
    /// A value that one thread at a time may see.
    ///
    /// Hold the lock for a few memory accesses only: never across input or output, a callback, or anything that waits. It
    /// is not recursive. It is a `Mutex` whose results need not be `Sendable`.
    @usableFromInline
    package struct Locked<Value: Sendable>: ~Copyable, Sendable {
        @usableFromInline let mutex: Mutex<Value>

        @inlinable
        package init(_ initial: consuming Value) { mutex = Mutex(initial) }

        /// Runs `body` on the value, alone.
        @inlinable
        package borrowing func withLock<Result, E: Error>(
            _ body: (inout Value) throws(E) -> Result
        ) throws(E) -> Result {
            try mutex.withLock { (value) throws(E) in
                // The result stays with the caller, whose closure has made it.
                nonisolated(unsafe) let result = try body(&value)
                return result
            }
        }
    }
#endif
