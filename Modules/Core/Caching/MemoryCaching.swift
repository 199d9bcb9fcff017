/// A cache for decoded images in memory.
///
/// Methods may be called concurrently from any thread. They return without blocking, perform no input or output, and
/// never call back into the caller.
public protocol MemoryCaching: Sendable {
    /// Returns the image stored under `key`, or nil when there is none, and records a use of it.
    func image(for key: ImageKey) -> DecodedImage?
    /// Whether an image is stored under `key`. Does not record a use.
    func contains(_ key: ImageKey) -> Bool
    /// Stores `image` under `key`, replacing any existing image.
    ///
    /// An image whose cost exceeds the limit of the cache is not stored and evicts no other image. An existing image
    /// under `key` is then removed.
    func store(_ image: DecodedImage, for key: ImageKey)
    /// Stores the finished image of `request` under ``ImageRequest/key``. The pipeline calls this method.
    ///
    /// A cache may decline the image because of the request. An existing image under the key is then removed. A cache
    /// that supports times to live applies ``ImageRequest/memoryTimeToLive``.
    ///
    /// The default implementation stores the image under the key of the request.
    func store(_ image: DecodedImage, for request: ImageRequest)
    /// Removes the image stored under `key`. Returns whether there was an image.
    @discardableResult func remove(_ key: ImageKey) -> Bool
    /// Removes the original and every variant of a resource. Returns the number of removed images.
    @discardableResult func removeAll(of resource: ResourceKey) -> Int
    /// Removes all images.
    func removeAll()
}

extension MemoryCaching {
    /// Stores the image under the key of the request.
    public func store(_ image: DecodedImage, for request: ImageRequest) { store(image, for: request.key) }
}

/// A memory cache that reports the cost of its images and can be trimmed.
///
/// A pipeline does not require this protocol. Apps use it to display and reduce memory use. The conformance kit of
/// AlcedoTesting also checks these requirements for caches that conform.
public protocol MaintainableMemoryCache: MemoryCaching {
    /// The total cost of all stored images, in bytes. The cache defines the cost of an image, usually
    /// ``DecodedImage/cost``.
    var totalCost: Int { get }
    /// Removes the least useful images until the total cost is at most `cost` bytes.
    func trim(toCost cost: Int)
}
