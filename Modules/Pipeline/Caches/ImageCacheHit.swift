public import AlcedoCore

/// An image that an ``ImageCache`` has found.
public struct ImageCacheHit: Sendable {
    /// What was found.
    public var image: DecodedImage
    /// Where it was, before this read brought it to memory.
    public var cacheType: ImageCacheType
    /// Whether this is the original, which the serializer kept in place of the processed image that was asked for: the
    /// processing has to be done again. Such an image is not kept in memory.
    public var needsProcessing: Bool

    /// A hit; by default of an image as it was asked for.
    package init(_ image: DecodedImage, _ cacheType: ImageCacheType, needsProcessing: Bool = false) {
        self.image = image
        self.cacheType = cacheType
        self.needsProcessing = needsProcessing
    }
}

/// Where an ``ImageCache`` has an image.
public enum ImageCacheType: String, Sendable, Hashable {
    /// In memory.
    case memory
    /// On disk, and not in memory.
    case disk
    /// Nowhere.
    case none
}
