/// Where an ``ImageCache`` has an image.
public enum ImageCacheType: String, Sendable, Hashable {
    /// In memory.
    case memory
    /// On disk, and not in memory.
    case disk
    /// Nowhere.
    case none
}
