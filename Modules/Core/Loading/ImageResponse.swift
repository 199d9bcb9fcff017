/// An image, and where it came from.
public struct ImageResponse: Sendable {
    /// The layer that had the image.
    public enum Layer: String, Sendable, Hashable {
        case memory
        case disk
        case network
        /// A file, bytes in memory, or a closure.
        case local
    }

    public var image: DecodedImage
    public var layer: Layer
    /// Encoded bytes that were read; nil for an image from memory.
    public var encodedByteCount: Int?

    public init(image: DecodedImage, layer: Layer, encodedByteCount: Int? = nil) {
        self.image = image
        self.layer = layer
        self.encodedByteCount = encodedByteCount
    }
}
