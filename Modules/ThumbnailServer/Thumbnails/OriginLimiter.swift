import Alcedo
import AlcedoRuntime

/// A limit on originals that are fetched at once, in total and for each host, so that a host that hangs does not delay
/// the others. A fetch waits for a permit of its host, then for one of the total. Both are granted in the order of
/// arrival. The permits are released when the bytes have arrived.
final class OriginLimiter: Sendable {
    private struct Host {
        let limiter: ByteBudget
        /// The number of operations that have a permit or wait for one.
        var count = 0
    }

    private let all: ByteBudget
    private let hostLimit: Int
    private let hosts = Locked<[String: Host]>([:])
    /// The number of operations that wait for a permit, by resource. An operation that is given up may overlap with the
    /// next one for the same resource.
    private let waiting = Locked<[ResourceKey: Int]>([:])

    init(limit: Int, hostLimit: Int) {
        all = ByteBudget(limit: limit)
        self.hostLimit = hostLimit
    }

    /// Whether an operation for a resource waits for a permit.
    func isWaiting(for resource: ResourceKey) -> Bool { waiting.withLock { $0[resource] != nil } }

    /// Runs `body` with a permit for a source. Waiting for the permit occupies no thread.
    ///
    /// - Throws: The error of `body`; `CancellationError` if the task is canceled before it has a permit.
    func withPermit<Value: Sendable>(
        for source: ImageSource, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        guard case .http(let request) = source, let host = try? SourceURL(request.url).host else {
            return try await body()
        }
        let (limiter, resource) = (acquire(host), source.resource)
        defer { release(host) }
        let isAdmitted = Locked(false)
        waiting.withLock { $0[resource, default: 0] += 1 }
        defer { if !isAdmitted.withLock({ $0 }) { stopWaiting(for: resource) } }
        return try await limiter.withReservation(of: 1) { [all] in
            try await all.withReservation(of: 1) {
                isAdmitted.withLock { $0 = true }
                stopWaiting(for: resource)
                return try await body()
            }
        }
    }

    private func stopWaiting(for resource: ResourceKey) {
        waiting.withLock { waiting in
            let count = waiting[resource, default: 0] - 1
            waiting[resource] = count > 0 ? count : nil
        }
    }

    private func acquire(_ host: String) -> ByteBudget {
        hosts.withLock { hosts in
            var found = hosts[host] ?? Host(limiter: ByteBudget(limit: hostLimit))
            found.count += 1
            hosts[host] = found
            return found.limiter
        }
    }

    private func release(_ host: String) {
        hosts.withLock { hosts in
            guard var found = hosts[host] else { return }
            found.count -= 1
            hosts[host] = found.count > 0 ? found : nil
        }
    }
}
