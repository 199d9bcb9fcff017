public import AlcedoCore
public import FoundationEssentials

/// A network whose state a test sets, for retries that wait for the network.
///
/// ```swift
/// import AlcedoDownloader
/// import AlcedoTesting
///
/// let network = ManualNetworkMonitor(isOnline: false)
/// var configuration = DownloaderConfiguration()
/// configuration.networkMonitor = network
/// network.isOnline = true
/// ```
///
/// Calls may come from any task.
public final class ManualNetworkMonitor: NetworkMonitoring {
    private struct State: Sendable {
        var isOnline: Bool
        var urls: [URL] = []
    }

    private let state: Watched<State>

    /// Creates a network, which is online by default.
    public init(isOnline: Bool = true) { state = Watched(State(isOnline: isOnline)) }

    /// Whether the network is available. When it becomes true, all waits end.
    public var isOnline: Bool {
        get { state.value.isOnline }
        set { state.update { $0.isOnline = newValue } }
    }

    /// The URLs for which callers have waited so far, also those whose wait ended at once, in the order of the calls.
    public var urls: [URL] { state.value.urls }

    /// Returns once at least `count` waits, by default one, have begun. Throws `CancellationError` when the call must
    /// wait and the task is canceled.
    public func waitForWaits(count: Int = 1) async throws { try await state.waitUntil { $0.urls.count >= count } }

    /// Records the URL, and returns once the network is available. Throws `CancellationError` when the call must wait
    /// and the task is canceled.
    public func waitUntilOnline(for url: URL) async throws {
        state.update { $0.urls.append(url) }
        try await state.waitUntil { $0.isOnline }
    }
}
