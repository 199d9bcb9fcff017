import Alcedo
import AlcedoRuntime

/// A limit on originals that are fetched at once, in total and for each host, so that a host that hangs does not delay
/// the others. A fetch waits for a permit of its name, then for one of its machine, then for one of the total. Each is
/// granted in the order of arrival. The permits are released when the bytes have arrived.
///
/// Names with the same addresses are one machine. Names that share only some addresses are different machines:
/// otherwise, the owner of a name could add the address of another host to its own, and use up the permits of that
/// host with fetches that hang.
final class OriginLimiter: Sendable {
    /// The owner of a limit.
    private enum Host: Hashable {
        case name(String)
        case machine(Set<UInt64>)
    }

    private struct Permits {
        let limiter: ByteBudget
        /// The number of operations that have a permit or wait for one.
        var count = 0
    }

    private let all: ByteBudget
    private let hostLimit: Int
    private let addresses: HostAddresses
    private let hosts = Locked<[Host: Permits]>([:])
    /// The number of operations that wait for a permit, by resource. An operation that is given up may overlap with the
    /// next one for the same resource.
    private let waiting = Locked<[ResourceKey: Int]>([:])

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of operations in total.
    ///   - hostLimit: The maximum number of operations of a name, and of a machine.
    ///   - lookUp: The function that looks up the addresses of a name. Default: the system's resolver.
    ///   - clock: The clock. Default: the system's clock.
    init(
        limit: Int, hostLimit: Int, lookUp: @escaping HostAddresses.Lookup = HostAddresses.system,
        clock: any TimeSource = SystemClock()
    ) {
        all = ByteBudget(limit: limit)
        self.hostLimit = hostLimit
        addresses = HostAddresses(lookUp, maxConcurrentLookups: limit, clock: clock)
    }

    /// Whether an operation for a resource waits for a permit.
    func isWaiting(for resource: ResourceKey) -> Bool { waiting.withLock { $0[resource] != nil } }

    /// Runs `body` with the permits for a source. Waiting for them occupies no thread.
    ///
    /// - Throws: The error of `body`; `CancellationError` if the task is canceled before it has the permits.
    func withPermit<Value: Sendable>(
        for source: ImageSource, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        guard case .http(let request) = source, let host = try? SourceURL(request.url).host else {
            return try await body()
        }
        let resource = source.resource
        return try await withPermit(of: .name(host), resource) {
            let found = try await addresses.addresses(of: host)
            guard !found.isEmpty else { return try await withPermit(from: all, resource, body) }
            return try await withPermit(of: .machine(found), resource) {
                try await withPermit(from: all, resource, body)
            }
        }
    }

    private func withPermit<Value: Sendable>(
        of host: Host, _ resource: ResourceKey, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let limiter = acquire(host)
        defer { release(host) }
        return try await withPermit(from: limiter, resource, body)
    }

    private func withPermit<Value: Sendable>(
        from limiter: ByteBudget, _ resource: ResourceKey, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let isAdmitted = Locked(false)
        waiting.withLock { $0[resource, default: 0] += 1 }
        defer { if !isAdmitted.withLock({ $0 }) { stopWaiting(for: resource) } }
        return try await limiter.withReservation(of: 1) {
            isAdmitted.withLock { $0 = true }
            stopWaiting(for: resource)
            return try await body()
        }
    }

    private func stopWaiting(for resource: ResourceKey) {
        waiting.withLock { waiting in
            let count = waiting[resource, default: 0] - 1
            waiting[resource] = count > 0 ? count : nil
        }
    }

    private func acquire(_ host: Host) -> ByteBudget {
        hosts.withLock { hosts in
            var found = hosts[host] ?? Permits(limiter: ByteBudget(limit: hostLimit))
            found.count += 1
            hosts[host] = found
            return found.limiter
        }
    }

    private func release(_ host: Host) {
        hosts.withLock { hosts in
            guard var found = hosts[host] else { return }
            found.count -= 1
            hosts[host] = found.count > 0 ? found : nil
        }
    }
}
