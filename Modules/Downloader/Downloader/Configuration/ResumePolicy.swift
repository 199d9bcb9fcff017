public import AlcedoCore

/// How an interrupted transfer is resumed.
///
/// Only a GET without conditions of its own is resumed, and only where the server gave a strong validator, so that nothing
/// is ever put together of two contents. Sources: RFC 9110 sections 13.1.5 (If-Range), 14 and 15.3.7.
public struct ResumePolicy: Sendable {
    /// Where parts are kept; nil keeps nothing.
    package var storage: (any DataCaching)?
    /// How long a part is kept.
    package var lifetime: Duration
    /// The maximum number of bytes of one content that are kept.
    package var maximumByteCount: Int
    /// A part is kept in pieces of this size while it arrives, so that a process that dies loses no more. Default: 512 KiB.
    package var pieceByteCount = 512 << 10
    /// The last piece of a transfer that ends early is kept when it is at least so large. Default: 32 KiB.
    package var minimumByteCount = 32 << 10

    /// Creates a policy; by default nothing outlives the download.
    ///
    /// - Parameters:
    ///   - storage: Where parts are kept for a later download, of a later process too: any data cache, on disk or in memory,
    ///     which bounds them all; its entries of other kinds are left alone. Nil keeps nothing. What the server or the
    ///     request forbids to store is not kept. Default: nil.
    ///   - lifetime: How long a part is kept. Default: 7 days.
    ///   - maximumByteCount: The maximum number of bytes of one content that are kept; what follows is fetched again.
    ///     Default: 256 MiB.
    public init(
        storage: (any DataCaching)? = nil, lifetime: Duration = .seconds(7 * 86_400), maximumByteCount: Int = 256 << 20
    ) {
        self.storage = storage
        self.lifetime = max(.zero, lifetime)
        self.maximumByteCount = max(0, maximumByteCount)
    }
}
