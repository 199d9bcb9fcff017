public import FoundationEssentials

/// The bytes that stand for an image in a data cache.
public struct SerializedImage: Sendable, Hashable {
    /// The encoded image.
    public var data: Data
    /// Whether they are those that the image came from, before anything was done to it.
    public var isOriginal: Bool

    /// Bytes of an image; by default made anew.
    public init(_ data: Data, isOriginal: Bool = false) {
        self.data = data
        self.isOriginal = isOriginal
    }
}
