import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoCURL

/// The limit of transfers with one address. The requests to it stall until they are released.
@Suite(.timeLimit(.minutes(10)))
struct AddressPermitTests {
    private let machine: LoopbackOrigin
    private let other: LoopbackOrigin
    /// The URLs of the requests that have begun to wait for an address.
    private let waits = Watched<[URL]>([])

    init() throws {
        let machine = try LoopbackOrigin { request in
            request.path == "/quick" ? .text("quick") : .text("late").stalling(at: .beforeHead)
        }
        var options = OriginOptions()
        options.machine = 2
        let target = machine.url(for: "/target").absoluteString
        other = try LoopbackOrigin(options: options) { request in
            request.path == "/redirect" ? .redirect(to: target) : .text("other")
        }
        self.machine = machine
    }

    private func transport(limit: Int, total: Int = 64) -> CURLTransport {
        var options = CURLOptions()
        options.proxy = .none
        options.maxConcurrentTransfers = total
        options.maxConcurrentTransfersPerAddress = limit
        options.onWait = { [waits] url, isWaiting in
            if isWaiting { waits.update { $0.append(url) } }
        }
        return CURLTransport(options: options)
    }

    private func url(_ path: String, host: String) throws -> URL {
        try #require(URL(string: "http://\(host):\(machine.port)\(path)"))
    }

    private func text(_ url: URL, by transport: CURLTransport) async throws -> String {
        let response = try await transport.sendFollowingRedirects(HTTPRequest(url: url, idleTimeout: .seconds(300)))
        return String(decoding: try await response.body.collect(limit: 1_000), as: UTF8.self)
    }

    @Test func `eight names of one machine share its permits, and another machine is not delayed`() async throws {
        defer { for origin in [machine, other] { origin.stop() } }
        // Those that wait have no slot of the total.
        let transport = transport(limit: 2, total: 3)
        let hosts = [
            "127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "a.localhost", "b.localhost", "c.localhost",
        ]
        try await withThrowingTaskGroup(of: String.self) { group in
            for host in hosts {
                let url = try url("/late", host: host)
                group.addTask { try await text(url, by: transport) }
            }
            try await machine.waitForStalls(count: 2)
            try await waits.waitUntil { $0.count >= 6 }
            #expect(machine.requests.count == 2)

            #expect(try await text(other.url, by: transport) == "other")

            for count in [2, 4, 6, 8] {
                try await machine.waitUntil { $0.requestCount == count && $0.stalledCount == 2 }
                machine.release()
            }
            for try await text in group { #expect(text == "late") }
        }
    }

    @Test func `the names of one machine have one address, also those that wait for it`() async throws {
        defer { for origin in [machine, other] { origin.stop() } }
        // A name may have several addresses, which are tried one after another.
        let addresses = Watched<[String: Set<String>]>([:])
        var options = CURLOptions()
        options.proxy = .none
        options.maxConcurrentTransfersPerAddress = 1
        options.onAddress = { url, address in addresses.update { _ = $0[url.host() ?? "", default: []].insert(address) }
        }
        let transport = CURLTransport(options: options)
        async let first = text(try url("/late", host: "127.0.0.1"), by: transport)
        try await machine.waitForStalls()
        async let second = text(try url("/quick", host: "a.localhost"), by: transport)
        try await addresses.waitUntil { $0["a.localhost"]?.isSuperset(of: $0["127.0.0.1"] ?? []) == true }
        #expect(machine.requests.map(\.path) == ["/late"])

        #expect(try await text(other.url, by: transport) == "other")

        let hosts = addresses.value
        #expect(hosts.count == 3)
        #expect(hosts[other.url.host() ?? ""]?.isDisjoint(with: hosts["127.0.0.1"] ?? []) == true)
        machine.release()
        #expect(try await first == "late")
        #expect(try await second == "quick")
    }

    @Test func `a redirect to a machine waits for a permit of it`() async throws {
        defer { for origin in [machine, other] { origin.stop() } }
        let transport = transport(limit: 1)
        async let first = text(try url("/late", host: "localhost"), by: transport)
        try await machine.waitForStalls()
        async let redirected = text(other.url(for: "/redirect"), by: transport)

        try await waits.waitUntil { $0.map(\.path).contains("/target") }
        #expect(machine.requests.map(\.path) == ["/late"])

        machine.release()
        #expect(try await first == "late")
        try await machine.waitForRequest(count: 2)
        machine.release()
        #expect(try await redirected == "late")
    }

    @Test func `a request on an idle connection needs a permit, too`() async throws {
        defer { for origin in [machine, other] { origin.stop() } }
        let transport = transport(limit: 1)
        #expect(try await text(url("/quick", host: "a.localhost"), by: transport) == "quick")
        async let late = text(try url("/late", host: "127.0.0.1"), by: transport)
        try await machine.waitForStalls()
        async let quick = text(try url("/quick", host: "a.localhost"), by: transport)

        try await waits.waitUntil { !$0.isEmpty }
        #expect(machine.requests.map(\.path) == ["/quick", "/late"])

        machine.release()
        #expect(try await late == "late")
        #expect(try await quick == "quick")
    }

    @Test func `a request that is canceled while it waits ends at once and holds no permit`() async throws {
        defer { for origin in [machine, other] { origin.stop() } }
        let transport = transport(limit: 1)
        async let late = text(try url("/late", host: "127.0.0.1"), by: transport)
        try await machine.waitForStalls()
        let canceled = Task { try await text(url("/quick", host: "localhost"), by: transport) }
        try await waits.waitUntil { !$0.isEmpty }

        canceled.cancel()
        await #expect(throws: CancellationError.self) { try await canceled.value }

        machine.release()
        #expect(try await late == "late")
        #expect(try await text(url("/quick", host: "127.1"), by: transport) == "quick")
        #expect(machine.requests.map(\.path) == ["/late", "/quick"])
    }

    @Test func `a machine that does not listen is an error for each of its names`() async throws {
        machine.stop()
        defer { other.stop() }
        let transport = transport(limit: 1)
        await withTaskGroup(of: HTTPTransportError.Code?.self) { group in
            for host in ["127.0.0.1", "localhost", "a.localhost", "127.1"] {
                group.addTask {
                    do {
                        _ = try await text(url("/", host: host), by: transport)
                        return nil
                    } catch {
                        return (error as? HTTPTransportError)?.code
                    }
                }
            }
            for await code in group { #expect([.cannotConnect, .offline].contains(code)) }
        }
    }

    @Test func `an address in IPv6 that stands for one in IPv4 is that one`() {
        let address = InternetAddress([127, 0, 0, 1])

        #expect(InternetAddress([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1]) == address)
        #expect(InternetAddress([0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8) + [127, 0, 0, 1]) == address)
        #expect(InternetAddress([UInt8](repeating: 0, count: 15) + [1]) != address)
    }

    @Test func `the addresses of one IPv6 network count as one`() throws {
        func address(_ network: UInt8, _ host: UInt8) throws -> InternetAddress {
            try #require(InternetAddress([0x20, 1, 0, 0, 0, 0, 0, network] + [UInt8](repeating: host, count: 8)))
        }
        let permits = AddressPermits<Int>(limit: 1)
        #expect(try permits.acquire(address(1, 1), for: 1))
        #expect(try !permits.acquire(address(1, 2), for: 2))
        #expect(try permits.acquire(address(2, 1), for: 2))
        permits.wait(for: try address(1, 3), 3, 3)
        permits.release(1, except: try address(1, 9))
        #expect(permits.takeAdmitted() == [])
        permits.release(1)
        #expect(permits.takeAdmitted() == [3])
    }

    @Test func `permits are granted in the order of arrival`() throws {
        let (a, b) = try (#require(InternetAddress([1, 1, 1, 1])), #require(InternetAddress([2, 2, 2, 2])))
        let permits = AddressPermits<Int>(limit: 2)
        #expect(permits.acquire(a, for: 1))
        #expect(permits.acquire(a, for: 1))
        #expect(permits.acquire(a, for: 2))
        #expect(permits.acquire(b, for: 2))
        for id in 3...5 {
            #expect(!permits.acquire(a, for: id))
            permits.wait(for: a, id, id)
        }
        #expect(permits.takeAdmitted() == [])

        permits.release(4)
        permits.release(2, except: b)
        #expect(permits.takeAdmitted() == [3])
        #expect(permits.acquire(a, for: 3))
        permits.release(1)
        permits.release(3)
        #expect(permits.takeAdmitted() == [5])

        permits.wait(for: a, 6, 6)
        #expect(permits.takeAdmitted() == [6])

        // The first of two waiters leaves after it has got a permit.
        for id in 7...8 { permits.wait(for: a, id, id) }
        permits.release(6)
        permits.release(7)
        #expect(permits.takeAdmitted() == [8])
    }
}
