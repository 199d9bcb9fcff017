public import AlcedoCore

/// A policy for resuming interrupted transfers.
///
/// Only a GET request without conditions of its own is resumed, and only if the server sent a strong validator, so that
/// parts of two different contents are never combined. Sources: RFC 9110 sections 13.1.5 (If-Range), 14 and 15.3.7.
public struct ResumePolicy: Sendable {
    /// The cache that stores partial contents; nil stores nothing.
    package var storage: (any DataCaching)?
    /// The time for which a partial content is kept.
    package var lifetime: Duration
    /// The maximum number of bytes that are kept of one content.
    package var maximumByteCount: Int
    /// The size of the pieces in which a partial content is stored while it arrives. A process that dies loses at most
    /// one piece. Default: 512 KiB.
    package var pieceByteCount = 512 << 10
    /// The minimum size of the last piece that is stored when a transfer ends early. Default: 32 KiB.
    package var minimumByteCount = 32 << 10

    /// Creates a policy. By default nothing is kept after the download has ended.
    ///
    /// - Parameters:
    ///   - storage: A data cache, on disk or in memory, that stores partial contents for later downloads, also of later
    ///     processes. It bounds their total size; its other entries are not touched. A content that the server or the
    ///     request forbids to store is not kept. Nil keeps nothing. Default: nil.
    ///   - lifetime: The time for which a partial content is kept. Default: 7 days.
    ///   - maximumByteCount: The maximum number of bytes that are kept of one content; the rest is downloaded again.
    ///     Default: 256 MiB.
    public init(
        storage: (any DataCaching)? = nil, lifetime: Duration = .seconds(7 * 86_400), maximumByteCount: Int = 256 << 20
    ) {
        self.storage = storage
        self.lifetime = max(.zero, lifetime)
        self.maximumByteCount = max(0, maximumByteCount)
    }
}
