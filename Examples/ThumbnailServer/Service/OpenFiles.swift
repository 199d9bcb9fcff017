import Glibc

/// How many files this process may have open, of which each connection is one.
enum OpenFiles {
    /// What everything but connections of clients needs: connections to origins and stores, pictures on disk.
    static let reserve: UInt = 256

    /// Raises the limit to what so many connections need, as far as the system lets, and returns for how many there is room.
    static func makeRoom(for connections: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return connections }
        let plan = plan(for: connections, soft: limit.rlim_cur, hard: limit.rlim_max)
        guard plan.soft > limit.rlim_cur else { return plan.connections }
        let before = limit.rlim_cur
        limit.rlim_cur = plan.soft
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return Self.plan(for: connections, soft: before, hard: before).connections
        }
        return plan.connections
    }

    /// The limit to be set, and how many connections it is enough for.
    static func plan(for connections: Int, soft: UInt, hard: UInt) -> (soft: UInt, connections: Int) {
        let limit = max(soft, min(hard, UInt(clamping: connections) + reserve))
        let room = limit - min(reserve, limit / 2)
        return (limit, max(1, min(connections, Int(clamping: room))))
    }
}
