/// A limit of this process on a resource of the system, as with `ulimit`. Glibc declares the resources as an
/// enumeration, Musl as macros.
package enum ResourceLimit {
    case openFiles
    /// In bytes. Writing beyond it sends `SIGXFSZ`.
    case fileSize
    /// Addresses, in bytes, whether used or not.
    case memory

    #if canImport(Glibc)
        private var resource: __rlimit_resource_t {
            let resource =
                switch self {
                case .openFiles: RLIMIT_NOFILE
                case .fileSize: RLIMIT_FSIZE
                case .memory: RLIMIT_AS
                }
            return __rlimit_resource_t(resource.rawValue)
        }
    #else
        private var resource: CInt {
            switch self {
            case .openFiles: RLIMIT_NOFILE
            case .fileSize: RLIMIT_FSIZE
            case .memory: RLIMIT_AS
            }
        }
    #endif

    /// The enforced limit, `soft`, and the maximum to which the process can raise it, `hard`. The value is nil if the
    /// system does not report them.
    package var current: (soft: UInt, hard: UInt)? {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        return (UInt(limit.rlim_cur), UInt(limit.rlim_max))
    }

    /// Sets both limits and returns whether the system accepted them.
    package func set(soft: UInt, hard: UInt) -> Bool {
        var limit = rlimit()
        limit.rlim_cur = .init(soft)
        limit.rlim_max = .init(hard)
        return setrlimit(resource, &limit) == 0
    }
}
