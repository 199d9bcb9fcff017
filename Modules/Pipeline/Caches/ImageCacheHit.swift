public import AlcedoCore

/// An image found by an ``ImageCache``.
public struct ImageCacheHit: Sendable {
    /// The image.
    public var image: DecodedImage
    /// The layer that contained the image before this read stored it in memory.
    public var cacheType: ImageCacheType
    /// Whether the image is the original, which the serializer kept instead of the processed image. The caller has to
    /// process it again. Such an image is not stored in memory.
    public var needsProcessing: Bool

    /// Creates a hit, by default of an image that needs no processing.
    package init(_ image: DecodedImage, _ cacheType: ImageCacheType, needsProcessing: Bool = false) {
        self.image = image
        self.cacheType = cacheType
        self.needsProcessing = needsProcessing
    }
}

/// The layer of an ``ImageCache`` that contains an image.
public enum ImageCacheType: String, Sendable, Hashable {
    /// The memory cache.
    case memory
    /// The disk cache, and not the memory cache.
    case disk
    /// Neither cache.
    case none
}
