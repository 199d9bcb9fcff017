import FoundationEssentials

/// Where the bytes of a content go. One task uses it.
protocol ContentSink: Sendable {
    /// Bytes that have been taken.
    var count: Int { get }
    /// The first of them, as many as a check of the content looks at, or all when there are fewer.
    var beginning: Data { get }
    /// - Throws: ``DownloadError``, or `CancellationError`; then the content is lost.
    mutating func append(_ piece: Data) async throws
    /// Expects so many bytes in all, as far as that can be believed.
    mutating func reserve(_ count: Int)
    /// Begins anew. Throws as ``append(_:)`` does.
    mutating func removeAll() async throws
}
