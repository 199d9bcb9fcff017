import AlcedoCore

/// An image on its way, with what is known of the bytes that it was made of.
struct Picture: Sendable {
    var image: DecodedImage
    var layer: ImageResponse.Layer
    /// nil for one that was in memory.
    var original: Original?
    /// XXH64 of the bytes as they came; nil where they were not there.
    var digest: UInt64?
}
