/// Where an ``ImageCache`` has an image.
public enum ImageCacheType: String, Sendable, Hashable {
    case memory
    case disk
    /// Nowhere.
    case none
}
