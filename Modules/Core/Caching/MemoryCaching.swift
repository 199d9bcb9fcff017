/// Keeps decoded images in memory.
///
/// Calls may come from any thread, return at once, do no input or output, and never call back into the caller.
public protocol MemoryCaching: Sendable {
    /// Returns the image stored under `key`, and counts as a use of it.
    func image(for key: ImageKey) -> DecodedImage?
    /// Whether an image is stored under `key`. Not a use of it.
    func contains(_ key: ImageKey) -> Bool
    /// Stores `image` under `key`, replacing any image already there.
    ///
    /// An image whose cost exceeds the whole limit is not stored and evicts nothing else; what stood under `key` goes.
    func store(_ image: DecodedImage, for key: ImageKey)
    /// Stores the finished image of `request` under ``ImageRequest/key``, as storing by key does. The pipeline calls
    /// this. A cache that decides by request may decline the image; what stood under the key goes then, too. A cache with
    /// times to live applies ``ImageRequest/timeToLive``.
    ///
    /// Default: stores the image under the request's key.
    func store(_ image: DecodedImage, for request: ImageRequest)
    /// Removes the image stored under `key`. Returns whether there was one.
    @discardableResult func remove(_ key: ImageKey) -> Bool
    /// Removes the original and every variant of a resource. Returns how many images that were.
    @discardableResult func removeAll(of resource: ResourceKey) -> Int
    /// Removes every image.
    func removeAll()
}

extension MemoryCaching {
    public func store(_ image: DecodedImage, for request: ImageRequest) { store(image, for: request.key) }
}

/// A memory cache that reports what its images cost and can be made smaller.
///
/// A pipeline does not need this. Apps use it to show and free memory, and ``MemoryCaching`` caches that conform are checked
/// for it, too.
public protocol MaintainableMemoryCache: MemoryCaching {
    /// The sum of the costs of all images stored, in bytes. The cache defines what an image costs; usually it is
    /// ``DecodedImage/cost``.
    var totalCost: Int { get }
    /// Removes the least useful images until the cost of the rest is at most `cost` bytes.
    func trim(toCost cost: Int)
}

/// How short memory is. A higher level is greater.
public enum MemoryPressure: Sendable, Comparable {
    /// There is enough.
    case normal
    /// Give back what is cheap to make again.
    case warning
    /// Give back everything.
    case critical
}

/// Tells when the machine, or the container, is short of memory.
public protocol MemoryPressureSource: Sendable {
    /// Calls `handler` at each change of the level until the returned token is let go. The handler may come from any
    /// thread and must not block.
    func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> any Sendable
}
