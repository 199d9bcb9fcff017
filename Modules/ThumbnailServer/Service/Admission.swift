import Alcedo
import AlcedoRuntime

/// Limits on the number of requests. Requests beyond them are rejected.
///
/// One limit applies to distinct requests, another to all requests, including equal ones. Both have the same rule: a
/// machine may have as many requests as are free. So one machine alone has at most half, two machines have a third
/// each, and requests of another machine are still admitted.
///
/// A machine is an address to which the server connects, with all host names that lead to it. Requests for host names
/// whose address is not known count together, as one more machine, until they end. As soon as the address is known,
/// they count for its machine as well: otherwise, the names of a wildcard domain would take slot after slot from the
/// unknown names. Among the unknown names, the rule applies to domains: one may have as many requests as the unknown
/// names have left. So new names of one domain have at most a third of all requests, and leave some to other new names.
/// Requests for one name try several addresses; those in progress at the same time count for the first one.
final class Admission: Sendable {
    /// The admission of one request. Deinitialization releases it if `release()` was never called, because the work for
    /// the request may not run.
    final class Permit: Sendable {
        private let key: ImageKey
        /// Whether the address of the host was not known when the request was admitted.
        private let isUnknown: Bool
        private let admission: Admission
        private let isTaken = Locked(true)

        fileprivate init(_ key: ImageKey, isUnknown: Bool, _ admission: Admission) {
            (self.key, self.isUnknown, self.admission) = (key, isUnknown, admission)
        }

        deinit { release() }

        func release() {
            let isFirst = isTaken.withLock { isTaken in
                defer { isTaken = false }
                return isTaken
            }
            if isFirst { admission.release(key, isUnknown: isUnknown) }
        }
    }

    /// A limit, and the numbers of requests of each machine and of unknown names. A request may count for both.
    private struct Shares: Sendable {
        let limit: Int
        var total = 0
        var unknown = 0
        /// The numbers of requests of unknown names by domain.
        var domains: [String: Int] = [:]
        var machines: [String: Int] = [:]

        init(limit: Int) { self.limit = limit }

        /// Whether a machine, or a host whose machine is not known, may have a further request.
        func isOpen(to machine: String?, _ host: String) -> Bool {
            let free = limit - total
            if let machine { return machines[machine, default: 0] < free }
            return domains[Admission.domain(of: host), default: 0] < free - unknown
        }

        /// Adds requests of a host, or subtracts them.
        mutating func add(_ count: Int, of host: String, isUnknown: Bool, machine: String?) {
            total += count
            if isUnknown {
                unknown += count
                Self.add(count, to: Admission.domain(of: host), in: &domains)
            }
            if let machine { add(count, to: machine) }
        }

        mutating func add(_ count: Int, to machine: String) { Self.add(count, to: machine, in: &machines) }

        private static func add(_ count: Int, to name: String, in counts: inout [String: Int]) {
            let sum = counts[name, default: 0] + count
            counts[name] = sum > 0 ? sum : nil
        }
    }

    /// The requests with one key, for one host.
    private struct Request {
        let host: String
        /// Whether the address of the host was not known when the first of them was admitted.
        let isUnknown: Bool
        var count = 0
    }

    /// A host name with admitted requests.
    private struct Host {
        /// The number of distinct requests.
        var distinctCount = 0
        /// The number of requests, including equal ones.
        var count = 0
        /// The address; nil if it is not known.
        var machine: String?
        /// Whether the server has connected since the first of the requests was admitted.
        var isConnected = false
    }

    private struct State {
        var distinct: Shares
        var all: Shares
        var requests: [ImageKey: Request] = [:]
        var hosts: [String: Host] = [:]
        /// The addresses of the last host names to which the server has connected.
        var addresses = RecentTable<String, String>(limit: addressLimit)

        func machine(of host: String) -> String? { hosts[host].map(\.machine) ?? addresses[host] }

        /// Adds the requests of a host to those of a machine, or subtracts them.
        mutating func add(_ sign: Int, _ host: Host, to machine: String) {
            distinct.add(sign * host.distinctCount, to: machine)
            all.add(sign * host.count, to: machine)
        }
    }

    /// The maximum number of host names whose addresses are kept. At the limit, the oldest name is removed.
    private static let addressLimit = 4_096

    private let state: Locked<State>

    /// Creates the limits.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of distinct requests.
    ///   - waiterLimit: The maximum number of requests, including equal ones. Default: no limit.
    init(limit: Int, waiterLimit: Int = .max) {
        state = Locked(State(distinct: Shares(limit: limit), all: Shares(limit: waiterLimit)))
    }

    /// The number of admitted requests, including equal ones.
    var current: Int { state.withLock { $0.all.total } }

    /// Returns the name of the machine of a host: its address if it is known, otherwise the host.
    func machine(of host: String) -> String { state.withLock { $0.machine(of: host) ?? host } }

    /// Whether the address of a host is known.
    func isKnown(_ host: String) -> Bool { state.withLock { $0.machine(of: host) != nil } }

    /// Records the address to which a request for a host connects. The host's admitted requests count for it, unless an
    /// address has been recorded since the first of them was admitted.
    func recordAddress(_ address: String, of host: String) {
        state.withLock { state in
            guard state.hosts[host]?.isConnected != true else { return }
            state.addresses.set(address, for: host)
            guard var known = state.hosts[host] else { return }
            if let machine = known.machine { state.add(-1, known, to: machine) }
            (known.machine, known.isConnected) = (address, true)
            state.add(1, known, to: address)
            state.hosts[host] = known
        }
    }

    /// Admits a request for a resource of a host. Returns nil if a limit is reached.
    func acquire(_ key: ImageKey, of host: String) -> Permit? {
        state.withLock { state -> Permit? in
            let machine = state.machine(of: host)
            let (isUnknown, isFirst) = (machine == nil, state.requests[key] == nil)
            guard state.all.isOpen(to: machine, host), !isFirst || state.distinct.isOpen(to: machine, host) else {
                return nil
            }
            state.all.add(1, of: host, isUnknown: isUnknown, machine: machine)
            if isFirst { state.distinct.add(1, of: host, isUnknown: isUnknown, machine: machine) }
            state.requests[key, default: Request(host: host, isUnknown: isUnknown)].count += 1
            var known = state.hosts[host] ?? Host(machine: machine)
            known.count += 1
            known.distinctCount += isFirst ? 1 : 0
            state.hosts[host] = known
            return Permit(key, isUnknown: isUnknown, self)
        }
    }

    /// Returns the domain of a host name: its last two labels, or three if the second of them from the end is short, as
    /// in `example.co.uk`. All numeric addresses have one domain.
    static func domain(of host: String) -> String {
        let labels = host.split(separator: ".")
        guard let last = labels.last, !host.contains(":"), !last.allSatisfy(\.isNumber) else { return "" }
        let hasShortLabel = labels.count > 2 && labels[labels.count - 2].count <= 3
        return labels.suffix(hasShortLabel ? 3 : 2).joined(separator: ".")
    }

    private func release(_ key: ImageKey, isUnknown: Bool) {
        state.withLock { state in
            guard let request = state.requests[key], var known = state.hosts[request.host] else { return }
            let isLast = request.count == 1
            state.all.add(-1, of: request.host, isUnknown: isUnknown, machine: known.machine)
            if isLast {
                state.distinct.add(-1, of: request.host, isUnknown: request.isUnknown, machine: known.machine)
            }
            known.count -= 1
            known.distinctCount -= isLast ? 1 : 0
            state.hosts[request.host] = known.count > 0 ? known : nil
            if isLast { state.requests[key] = nil } else { state.requests[key]?.count -= 1 }
        }
    }
}
