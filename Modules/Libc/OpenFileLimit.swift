/// The limit of open files of this process, `RLIMIT_NOFILE`. Glibc declares the resources as an enumeration, Musl as
/// macros.
package enum OpenFileLimit {
    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif

    /// The limit in force and the highest that the process may set, or nil when the system does not say.
    package static var current: (soft: UInt, hard: UInt)? {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        return (UInt(limit.rlim_cur), UInt(limit.rlim_max))
    }

    /// Sets the limit and returns whether the system accepted it.
    package static func set(soft: UInt, hard: UInt) -> Bool {
        var limit = rlimit()
        limit.rlim_cur = .init(soft)
        limit.rlim_max = .init(hard)
        return setrlimit(resource, &limit) == 0
    }
}
