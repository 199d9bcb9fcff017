import AlcedoLibc

/// How many files this process may have open, of which each connection is one.
enum OpenFiles {
    /// What everything but connections of clients needs: connections to origins and stores, pictures on disk.
    static let reserve: UInt = 256

    /// Raises the limit to what so many connections need, as far as the system lets, and returns for how many there is room.
    static func makeRoom(for connections: Int) -> Int {
        guard let limit = OpenFileLimit.current else { return connections }
        let plan = plan(for: connections, soft: limit.soft, hard: limit.hard)
        guard plan.soft > limit.soft else { return plan.connections }
        guard OpenFileLimit.set(soft: plan.soft, hard: limit.hard) else {
            return Self.plan(for: connections, soft: limit.soft, hard: limit.soft).connections
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
