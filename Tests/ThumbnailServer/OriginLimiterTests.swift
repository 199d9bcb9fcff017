import Alcedo
import AlcedoHTTP
import AlcedoTesting
import Dispatch
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

/// Permits of hosts by their names and addresses.
@Suite(.timeLimit(.minutes(10)))
struct OriginLimiterTests {
    private let clock = ManualClock()

    private func source(_ host: String, _ path: String = "/") throws -> ImageSource {
        .http(HTTPRequest(url: try #require(URL(string: "http://\(host)\(path)"))))
    }

    /// Fetches from hosts at once, with one permit for each. Returns the hosts whose fetches begin while the others
    /// wait.
    private func begun(_ hosts: [String], addresses: [String: Set<UInt64>]) async throws -> Set<String> {
        let limiter = OriginLimiter(limit: 10, hostLimit: 1, lookUp: { addresses[$0] ?? [] }, clock: clock)
        let begun = Watched<Set<String>>([])
        let end = Watched(false)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for host in hosts {
                let source = try source(host)
                group.addTask {
                    try await limiter.withPermit(for: source) {
                        begun.update { _ = $0.insert(host) }
                        try await end.waitUntil { $0 }
                    }
                }
                // Each begins or waits before the next arrives.
                try await eventually { begun.value.contains(host) || limiter.isWaiting(for: source.resource) }
            }
            let first = begun.value
            end.update { $0 = true }
            try await group.waitForAll()
            #expect(begun.value == Set(hosts))
            return first
        }
    }

    @Test func `names with the same addresses share the permits of one host`() async throws {
        let found = try await begun(["a.test", "b.test", "c.test"], addresses: ["a.test": [1], "b.test": [1]])
        #expect(found == ["a.test", "c.test"])
    }

    @Test func `a name that adds the address of another host to its own does not use its permits`() async throws {
        let hosts = ["evil.test", "good.test"]
        #expect(try await begun(hosts, addresses: ["evil.test": [1, 2], "good.test": [1]]) == Set(hosts))
    }

    @Test func `names without addresses have permits of their own`() async throws {
        #expect(try await begun(["a.test", "b.test"], addresses: [:]) == ["a.test", "b.test"])
    }

    @Test func `a lookup that hangs delays no other host, and runs once`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let lookups = Watched<[String]>([])
        let limiter = OriginLimiter(
            limit: 3, hostLimit: 2,
            lookUp: { host in
                lookups.update { $0.append(host) }
                if host == "slow.test" { gate.wait() }
                return [UInt64(host.utf8.count)]
            }, clock: clock)
        let slow = try (0..<2).map { try source("slow.test", "/\($0)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for source in slow { group.addTask { try await limiter.withPermit(for: source) {} } }
            try await lookups.waitUntil { $0.count == 1 }

            try await limiter.withPermit(for: try source("quick.test")) {}

            gate.signal()
            try await group.waitForAll()
        }
        #expect(lookups.value == ["slow.test", "quick.test"])
    }

    @Test func `addresses are looked up again after a minute`() async throws {
        let lookups = Watched(0)
        let limiter = OriginLimiter(
            limit: 1, hostLimit: 1,
            lookUp: { _ in
                lookups.update { $0 += 1 }
                return [1]
            }, clock: clock)
        for _ in 0..<2 { try await limiter.withPermit(for: try source("a.test")) {} }
        #expect(lookups.value == 1)

        clock.advance(by: .seconds(61))
        try await limiter.withPermit(for: try source("a.test")) {}
        #expect(lookups.value == 2)
    }

    @Test func `the spellings of an address have one number`() {
        #expect(HostAddresses.system("127.1") == HostAddresses.system("127.0.0.1"))
        #expect(HostAddresses.system("::ffff:127.0.0.1") == HostAddresses.system("127.0.0.1"))
        #expect(HostAddresses.system("2001:db8::1") == HostAddresses.system("2001:db8::2"))
        #expect(HostAddresses.system("127.0.0.2") != HostAddresses.system("127.0.0.1"))
        #expect(HostAddresses.system(String(repeating: "a", count: 300)).isEmpty)
    }
}
