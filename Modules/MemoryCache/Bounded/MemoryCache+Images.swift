public import AlcedoCore

/// A memory cache of decoded images; an image costs the bytes it occupies.
public typealias ImageMemoryCache = MemoryCache<ImageKey, DecodedImage>

extension MemoryCache: MemoryCaching where Key == ImageKey, Value == DecodedImage {
    public func image(for key: ImageKey) -> DecodedImage? { value(for: key) }

    public func store(_ image: DecodedImage, for key: ImageKey) { store(image, for: key, cost: image.cost) }

    @discardableResult
    public func remove(_ key: ImageKey) -> Bool { removeValue(for: key) != nil }

    public func trim(toCost cost: Int) { trim(toCost: cost, count: .max) }
}
