public import FoundationEssentials

/// A condition that tells when the network can be used, for retries that wait for it
/// (``RetryPolicy/maximumNetworkWait``).
///
/// ```swift
/// struct Intranet: NetworkMonitoring {
///     let isConnected: @Sendable () -> Bool
///
///     func waitUntilOnline(for url: URL) async throws {
///         while !isConnected() { try await Task.sleep(for: .seconds(1)) }
///     }
/// }
/// ```
///
/// The default stack uses `SystemNetworkMonitor`, and tests use `ManualNetworkMonitor` of `AlcedoTesting`.
public protocol NetworkMonitoring: Sendable {
    /// Returns when a request for a URL can be sent. Returns at once if it can be sent now.
    ///
    /// Called from any task, concurrently, before each attempt that waits for the network. The caller limits the time
    /// and cancels the task at its end. The method must not block, and must end soon after its task is canceled.
    ///
    /// - Throws: `CancellationError` when the task is canceled. After any other error, the download fails with the
    ///   error of its last attempt.
    func waitUntilOnline(for url: URL) async throws
}
