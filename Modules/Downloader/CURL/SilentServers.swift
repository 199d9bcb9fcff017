/// Which servers were silent for too long, and have not answered since: the connections to them may be dead without
/// anybody knowing, as when a network was changed.
struct SilentServers {
    /// More than so many are forgotten together, and cost a timeout each.
    private static let limit = 256

    private var hosts: Set<String> = []

    func contains(_ host: String) -> Bool { !hosts.isEmpty && hosts.contains(host) }

    mutating func wasSilent(_ host: String) {
        if hosts.count >= Self.limit { hosts = [] }
        hosts.insert(host)
    }

    mutating func hasAnswered(_ host: String) {
        if !hosts.isEmpty { hosts.remove(host) }
    }
}
