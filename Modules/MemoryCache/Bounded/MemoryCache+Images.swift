public import AlcedoCore

/// A memory cache of decoded images; an image costs the bytes it occupies.
public typealias ImageMemoryCache = MemoryCache<ImageKey, DecodedImage>

extension MemoryCache: MemoryCaching where Key == ImageKey, Value == DecodedImage {
    @inlinable
    public func image(for key: ImageKey) -> DecodedImage? { value(for: key) }

    @inlinable
    public func store(_ image: DecodedImage, for key: ImageKey) { store(image, for: key, cost: image.cost) }

    @discardableResult
    @inlinable
    public func remove(_ key: ImageKey) -> Bool { removeValue(for: key) != nil }

    @inlinable
    public func trim(toCost cost: Int) { trim(toCost: cost, count: .max) }
}
