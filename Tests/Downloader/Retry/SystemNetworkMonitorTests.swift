import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDownloader

@Suite(.timeLimit(.minutes(10)))
struct SystemNetworkMonitorTests {
    private static let hasDefaultRoute: Bool = {
        let table = (try? String(contentsOfFile: "/proc/net/route", encoding: .utf8)) ?? ""
        return table.split(separator: "\n").contains { $0.split(separator: "\t").dropFirst().first == "00000000" }
    }()

    private let clock = ManualClock()

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test func `a monitor looks for a route at its interval until there is one`() async throws {
        let (looks, isOnline) = (Watched<[URL]>([]), Watched(false))
        let monitor = SystemNetworkMonitor(interval: .seconds(2), clock: clock) { url in
            looks.update { $0.append(url) }
            return isOnline.value
        }
        let url = try url("http://h/a")
        let wait = Task { try await monitor.waitUntilOnline(for: url) }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(2))
        try await clock.waitForSleepers(count: 1)
        #expect(looks.value == [url, url])

        isOnline.update { $0 = true }
        clock.advance(by: .seconds(2))

        try await wait.value
        #expect(looks.value.count == 3)
    }

    @Test func `a cancellation ends the wait for a route`() async throws {
        let monitor = SystemNetworkMonitor(interval: .seconds(2), clock: clock) { _ in false }
        let url = try url("http://h/a")
        let wait = Task { try await monitor.waitUntilOnline(for: url) }
        try await clock.waitForSleepers(count: 1)

        wait.cancel()

        await #expect(throws: CancellationError.self) { try await wait.value }
    }

    @Test(arguments: [
        ("127.0.0.1", Bool?.some(true)),
        // A link-local address without the name of its interface has no route.
        ("fe80::1", false), ("[fe80::1]", false), ("example.com", nil), ("", nil),
    ])
    func `an address has a route, or has none, and a name is no address`(text: String, hasRoute: Bool?) {
        #expect(Routes.lead(toAddress: text) == hasRoute)
    }

    @Test(arguments: ["http://127.0.0.1:8080/a", "http://localhost/a", "http://images.LOCALHOST/a"])
    func `a server on this machine is available without a network`(text: String) async throws {
        // The clock stands still, so a wait would not end.
        try await SystemNetworkMonitor(clock: clock).waitUntilOnline(for: try url(text))
    }

    @Test(.enabled(if: hasDefaultRoute))
    func `a server with a name is available if there is a default route`() async throws {
        try await SystemNetworkMonitor(clock: clock).waitUntilOnline(for: try url("https://example.com/a"))
    }
}
