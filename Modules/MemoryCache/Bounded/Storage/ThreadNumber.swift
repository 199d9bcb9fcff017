import AlcedoCore
public import AlcedoLibc

/// Numbers threads in the order in which they first ask, so that a few threads get different ones.
@usableFromInline
struct ThreadNumber: Sendable {
    /// The key under which the system's library keeps a thread's number, plus one; nil when it has no key left.
    private static let shared: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()
    private static let last = Locked(0)

    @usableFromInline let key: pthread_key_t?

    @usableFromInline init() { key = Self.shared }

    /// The calling thread's number, the same at every call: 0, 1, 2 and so on. A few nanoseconds.
    @inlinable var current: Int {
        guard let key else { return 0 }
        let known = Int(bitPattern: pthread_getspecific(key))
        return known > 0 ? known - 1 : Self.enroll(key)
    }

    @usableFromInline
    static func enroll(_ key: pthread_key_t) -> Int {
        let number = last.withLock { last in
            last += 1
            return last
        }
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: number))
        return number - 1
    }
}
