/// The limit on the number of open files of this process, `RLIMIT_NOFILE`. Glibc declares the resources as an
/// enumeration, Musl as macros.
package enum OpenFileLimit {
    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif

    /// The enforced limit, `soft`, and the maximum to which the process can raise it, `hard`. The value is nil if the
    /// system does not report them.
    package static var current: (soft: UInt, hard: UInt)? {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        return (UInt(limit.rlim_cur), UInt(limit.rlim_max))
    }

    /// Sets both limits and returns whether the system accepted them.
    package static func set(soft: UInt, hard: UInt) -> Bool {
        var limit = rlimit()
        limit.rlim_cur = .init(soft)
        limit.rlim_max = .init(hard)
        return setrlimit(resource, &limit) == 0
    }
}
