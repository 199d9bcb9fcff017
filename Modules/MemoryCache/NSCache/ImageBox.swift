import AlcedoCore

/// An image as NSCache takes it: an object. It knows its key, because NSCacheDelegate is told the object only.
final class ImageBox: Sendable {
    let key: ImageKeyObject
    let image: DecodedImage
    /// In bytes; at least nought.
    let cost: Int

    init(_ image: DecodedImage, for key: ImageKey) {
        self.key = ImageKeyObject(key)
        self.image = image
        cost = max(0, image.cost)
    }
}
