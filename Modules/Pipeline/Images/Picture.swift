import AlcedoCore

/// An image on its way, with what is known of the bytes that it was made of.
struct Picture: Sendable {
    /// What stays known of the bytes when they are gone.
    struct Origin: Sendable {
        /// XXH64 of the bytes as they came; nil where they were not there.
        var digest: UInt64?
        /// Whether the server lets anything of them be kept on disk.
        var allowsStoring: Bool
    }

    var image: DecodedImage
    var layer: ImageResponse.Layer
    /// nil for one that was in memory, unless its bytes still belong on disk.
    var original: Original?
    /// nil when nobody knows.
    var origin: Origin?

    /// Whether it may be kept under the key of its request: false when the file has changed while it was read.
    var isCurrent: Bool { original?.isCurrent != false }
}
