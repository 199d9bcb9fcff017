public import AlcedoCore
import AlcedoLibc
public import FoundationEssentials

/// A monitor for which the network is available when the system has a route to the server.
///
/// ```swift
/// import AlcedoDownloader
///
/// var configuration = DownloaderConfiguration()
/// configuration.networkMonitor = SystemNetworkMonitor(interval: .milliseconds(250))
/// ```
///
/// The monitor asks the kernel for a route, and sends nothing. For an IP address in the URL, the route is that to the
/// address. For a host name, whose address may be unknown without a network, it is that to the Internet. `localhost` is
/// always available.
///
/// A route does not mean that the server responds, because a router may have lost its own connection. On a network
/// without a route to the Internet, set a ``/AlcedoCore/NetworkMonitoring`` of the app.
public struct SystemNetworkMonitor: NetworkMonitoring {
    private let interval: Duration
    private let clock: any TimeSource
    private let isOnline: @Sendable (URL) -> Bool

    /// Creates a monitor, which does nothing while no retry waits.
    ///
    /// - Parameters:
    ///   - interval: The time between two looks at the routing table while the network is not available. Minimum: 1
    ///     millisecond. Default: 1 second.
    ///   - clock: The clock that measures the interval. Default: the system's clock.
    public init(interval: Duration = .seconds(1), clock: any TimeSource = SystemClock()) {
        self.init(interval: interval, clock: clock, isOnline: { Routes.lead(to: $0) })
    }

    /// Creates a monitor with its own condition.
    init(interval: Duration, clock: any TimeSource, isOnline: @escaping @Sendable (URL) -> Bool) {
        self.interval = max(.milliseconds(1), interval)
        self.clock = clock
        self.isOnline = isOnline
    }

    /// Returns when there is a route. Throws `CancellationError` when the task is canceled first.
    public func waitUntilOnline(for url: URL) async throws {
        while !isOnline(url) { try await clock.sleep(for: interval) }
    }
}

/// The routes of the system.
enum Routes {
    /// Addresses on the Internet, of a root name server. Their routes are those of the Internet.
    private static let internet = ["198.41.0.4", "2001:503:ba3e::2:30"]

    /// Returns whether a route leads to the server of a URL.
    static func lead(to url: URL) -> Bool {
        let host = url.host()?.lowercased() ?? ""
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        return lead(toAddress: host) ?? internet.contains { lead(toAddress: $0) == true }
    }

    /// Returns whether a route leads to an IPv4 or IPv6 address, which may have brackets; nil for other text.
    static func lead(toAddress text: String) -> Bool? {
        var hints = addrinfo()
        // No name server is asked.
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = SocketType.datagram
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(text.filter { !"[]".contains($0) }, "80", &hints, &found) == 0, let found else { return nil }
        defer { freeaddrinfo(found) }

        let descriptor = socket(found.pointee.ai_family, SocketType.datagram | SocketType.closeOnExec, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // The kernel selects the route of a datagram socket when the socket is connected, and sends nothing.
        return connect(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0
    }
}
