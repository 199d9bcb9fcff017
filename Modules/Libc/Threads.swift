/// System threads. Glibc declares their identifiers as numbers, Musl as pointers.
package enum Threads {
    /// The function that a thread runs, with its context as the argument.
    package typealias Body = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

    /// A number that identifies the current thread while it runs.
    package static var current: UInt {
        #if canImport(Glibc)
            UInt(pthread_self())
        #else
            UInt(bitPattern: pthread_self())
        #endif
    }

    /// Starts a detached thread and returns whether the system created it.
    package static func startDetached(_ context: UnsafeMutableRawPointer, _ body: @escaping Body) -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        #if canImport(Glibc)
            var thread = pthread_t()
        #else
            var thread: pthread_t?
        #endif
        return pthread_create(&thread, &attributes, body, context) == 0
    }
}
