import Alcedo
import AlcedoRuntime
private import CHTTPServerShim

/// The addresses of hosts. Two names with the same addresses belong to one machine.
///
/// The addresses of a name are kept for a minute, as in libcurl. Equal lookups at the same time are one lookup.
final class HostAddresses: Sendable {
    /// A function that returns the addresses of a host as numbers, or none if the lookup fails. It may block.
    typealias Lookup = @Sendable (_ host: String) -> Set<UInt64>

    private struct Entry {
        let addresses: Set<UInt64>
        /// The uptime at which the addresses are looked up again.
        let end: Duration
    }

    private static let lifetime = Duration.seconds(60)
    /// The maximum number of names. At the limit, all are removed. Each removed name may cost another lookup.
    private static let limit = 4_096

    private let lookUp: Lookup
    private let clock: any TimeSource
    private let threads: BlockingExecutor
    private let lookups = Coalescer<String, Never, Set<UInt64>>()
    private let entries = Locked<[String: Entry]>([:])

    /// Creates a table without entries.
    ///
    /// - Parameters:
    ///   - lookUp: The function that looks up a host.
    ///   - maxConcurrentLookups: The maximum number of lookups at once. A name server that does not respond occupies
    ///     one of them for each of its names.
    ///   - clock: The clock.
    init(_ lookUp: @escaping Lookup, maxConcurrentLookups: Int, clock: any TimeSource) {
        self.lookUp = lookUp
        self.clock = clock
        threads = BlockingExecutor(name: "thumbnail.lookup", maxConcurrent: maxConcurrentLookups)
    }

    /// Returns the addresses of a host; none if the lookup fails.
    ///
    /// - Throws: `CancellationError` only.
    func addresses(of host: String) async throws -> Set<UInt64> {
        if let entry = entries.withLock({ $0[host] }), entry.end > clock.uptime { return entry.addresses }
        return try await lookups.value(for: host) { [self] _ in
            let found = try await threads.run { [lookUp] in lookUp(host) }
            let entry = Entry(addresses: found, end: clock.uptime + Self.lifetime)
            entries.withLock { entries in
                if entries.count >= Self.limit { entries = [:] }
                entries[host] = entry
            }
            return found
        }
    }

    /// Looks up a host with the system's resolver. Addresses of one IPv6 network of 64 bits are equal, because they can
    /// belong to one machine.
    static let system: Lookup = { host in
        var numbers = [UInt64](repeating: 0, count: 64)
        let count = numbers.withUnsafeMutableBufferPointer { numbers in
            numbers.baseAddress.map { alcedo_http_addresses(host, $0, numbers.count) } ?? 0
        }
        return Set(numbers.prefix(count))
    }
}
