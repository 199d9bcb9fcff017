/// An image, and where it came from.
public struct ImageResponse: Sendable {
    /// The layer that had the image.
    public enum Layer: String, Sendable, Hashable {
        /// The memory cache.
        case memory
        /// The disk cache.
        case disk
        /// A server, a response cache on the way to it, or a closure.
        case network
        /// A file, a `data:` URL, or bytes in memory.
        case local
    }

    /// The finished image.
    public var image: DecodedImage
    /// Which layer had it, or the bytes it was made of.
    public var layer: Layer
    /// Encoded bytes that were read; nil for an image from memory.
    public var encodedByteCount: Int?

    /// An image and where it came from.
    public init(image: DecodedImage, layer: Layer, encodedByteCount: Int? = nil) {
        self.image = image
        self.layer = layer
        self.encodedByteCount = encodedByteCount
    }
}
