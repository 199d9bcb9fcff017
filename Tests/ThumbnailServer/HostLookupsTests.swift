import Alcedo
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

@Suite(.timeLimit(.minutes(10)))
struct HostLookupsTests {
    private let admission = Admission(limit: 100)
    private let begun = Watched<[String]>([])
    private let gate = Watched(false)

    /// Begins a request that lasts until the gate opens. It has begun, or waits, when this function returns.
    private func begin(_ host: String, _ lookups: HostLookups) throws -> Task<Void, any Error> {
        let url = try #require(URL(string: "https://\(host)/"))
        return Task.immediate { [begun, gate] in
            try await lookups.observing(url) {
                begun.update { $0.append(host) }
                try await gate.waitUntil { $0 }
            }
        }
    }

    private func connect(_ host: String, _ lookups: HostLookups) {
        admission.recordAddress("1", of: host)
        lookups.end(of: host)
    }

    @Test func `names without an address leave requests to other domains and to known names`() async throws {
        let lookups = HostLookups(admission, limit: 4)
        connect("known.test", lookups)
        var tasks = try (0..<4).map { try begin("\($0).wild.test", lookups) }
        #expect(begun.value == ["0.wild.test", "1.wild.test"])

        for host in ["known.test", "a.test", "b.test"] { tasks.append(try begin(host, lookups)) }
        #expect(begun.value.suffix(3) == ["known.test", "a.test", "b.test"])
        tasks.append(try begin("c.test", lookups))
        #expect(begun.value.count == 5)

        // Another domain goes before one that has lookups.
        connect("0.wild.test", lookups)
        try await begun.waitUntil { $0.last == "c.test" }
        for host in ["1.wild.test", "a.test", "b.test", "c.test"] { connect(host, lookups) }
        try await begun.waitUntil { $0.count == 8 }

        gate.update { $0 = true }
        for task in tasks { try await task.value }
    }

    @Test func `a lookup ends with its request, or with the first connection to its host`() async throws {
        let lookups = HostLookups(admission, limit: 1)
        let tasks = try ["a.test", "b.test", "c.test", "a.test"].map { try begin($0, lookups) }
        #expect(begun.value == ["a.test"])

        // One that waits for the same host begins at once, and another host has the lookup.
        connect("a.test", lookups)
        try await begun.waitUntil { $0.count == 3 }
        #expect(Set(begun.value) == ["a.test", "b.test"])

        gate.update { $0 = true }
        for task in tasks { try await task.value }
        #expect(begun.value.last == "c.test")
        #expect(begun.value.count == 4)
    }

    @Test func `the requests of a transport have the limit`() async throws {
        let held = HeldTransport(begun: begun, gate: gate)
        let transport = HostLookupTransport(transport: held, lookups: HostLookups(admission, limit: 1))
        let urls = try ["https://0.wild.test/", "https://1.wild.test/"].map { try #require(URL(string: $0)) }
        let tasks = urls.map { url in Task.immediate { try await transport.send(HTTPRequest(url: url)).head.status } }

        #expect(begun.value == ["0.wild.test"])

        gate.update { $0 = true }
        for task in tasks { #expect(try await task.value == 200) }
        #expect(begun.value == ["0.wild.test", "1.wild.test"])
    }

    @Test func `a request that is canceled while it waits is not sent`() async throws {
        let lookups = HostLookups(admission, limit: 1)
        let first = try begin("a.test", lookups)
        let waiting = try begin("b.test", lookups)

        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }

        gate.update { $0 = true }
        try await first.value
        try await begin("c.test", lookups).value
        #expect(begun.value == ["a.test", "c.test"])
    }
}

/// Responds when its gate opens.
private struct HeldTransport: HTTPTransport {
    let begun: Watched<[String]>
    let gate: Watched<Bool>

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        begun.update { $0.append(request.url.host() ?? "") }
        try await gate.waitUntil { $0 }
        return HTTPResponse(head: HTTPResponseHead(url: request.url, status: 200), body: HTTPBody(Data()))
    }
}
