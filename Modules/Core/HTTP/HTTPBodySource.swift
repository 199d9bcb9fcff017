public import FoundationEssentials

/// Where an ``HTTPBody`` gets its bytes.
public protocol HTTPBodySource: Sendable {
    /// Returns the next bytes, never none, or nil after the last. Called by one task at a time.
    ///
    /// - Throws: ``HTTPTransportError``, or `CancellationError` when the body or the calling task was cancelled.
    func next() async throws -> Data?
    /// Stops the transfer. May come from any thread, at any time, more than once; must not block.
    func cancel()
}
