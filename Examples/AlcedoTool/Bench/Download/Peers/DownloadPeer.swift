import FoundationEssentials

/// One of those who fetch the same bodies in turns.
protocol DownloadPeer: Sendable {
    /// Fetches so many bodies into memory, each from a URL of its own, and returns the time that took.
    ///
    /// - Parameter first: The number behind the first URL.
    /// - Throws: When an answer is not as it should be.
    func fetch(_ count: Int, from first: Int) async throws -> Duration
}
