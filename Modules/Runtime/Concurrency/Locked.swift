public import AlcedoLibc

/// A value that one thread at a time may see.
///
/// Hold the lock for a few memory accesses only: never across input or output, a callback, or anything that waits. It
/// is not recursive.
///
/// This is not the standard library's `Mutex` for one reason: when two threads meet there, the kernel passes the lock
/// on without an atomic operation that the thread sanitizer could see (6.3.1), and every such meeting is reported as a
/// race. A lock of the system's library is understood, so that a silent sanitizer means something.
///
/// `@unchecked` because of the pointers: all access to `value` is under `mutex`.
@usableFromInline
package struct Locked<Value: Sendable>: ~Copyable, @unchecked Sendable {
    /// One allocation for both, the mutex first: there are several locks to each request and image.
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let value: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ initial: consuming Value) {
        let alignment = max(MemoryLayout<pthread_mutex_t>.alignment, MemoryLayout<Value>.alignment)
        let offset = (MemoryLayout<pthread_mutex_t>.size + alignment - 1) / alignment * alignment
        let base = UnsafeMutableRawPointer.allocate(
            byteCount: offset + MemoryLayout<Value>.size, alignment: alignment)
        mutex = base.initializeMemory(as: pthread_mutex_t.self, to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        value = (base + offset).initializeMemory(as: Value.self, to: initial)
    }

    @inlinable
    deinit {
        value.deinitialize(count: 1)
        pthread_mutex_destroy(mutex)
        UnsafeMutableRawPointer(mutex).deallocate()
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
