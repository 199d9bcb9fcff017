import Alcedo

/// Places for originals: as many as there may be at once, and some of them at most for one host, so that a host that
/// hangs does not hold up the others. Each goes to who asked first.
final class OriginPlaces: Sendable {
    private struct Host {
        let places: ByteBudget
        /// How many have a place or wait for one.
        var count = 0
    }

    private let all: ByteBudget
    private let hostLimit: Int
    private let hosts = Locked<[String: Host]>([:])

    init(limit: Int, hostLimit: Int) {
        all = ByteBudget(limit: limit)
        self.hostLimit = hostLimit
    }

    /// Runs `body` in a place, after waiting for it without a thread.
    ///
    /// - Throws: What `body` throws; `CancellationError` when the task is cancelled before there is a place.
    func withPlace<Value: Sendable>(
        for host: String, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let places = enter(host)
        defer { leave(host) }
        return try await places.withReservation(of: 1) { [all] in
            try await all.withReservation(of: 1, body)
        }
    }

    private func enter(_ host: String) -> ByteBudget {
        hosts.withLock { hosts in
            var found = hosts[host] ?? Host(places: ByteBudget(limit: hostLimit))
            found.count += 1
            hosts[host] = found
            return found.places
        }
    }

    private func leave(_ host: String) {
        hosts.withLock { hosts in
            guard var found = hosts[host] else { return }
            found.count -= 1
            hosts[host] = found.count > 0 ? found : nil
        }
    }
}
