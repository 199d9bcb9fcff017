public import AlcedoCore
import AlcedoHTTP

/// A cache that finds and stores images by request, on top of any memory cache, with the cache policy rule of
/// AFNetworking 2.
///
/// ```swift
/// import AlcedoCore
/// import AlcedoMemoryCache
/// import AlcedoNSCache
///
/// let images = RequestImageCache(
///     NSCacheBackend(costLimit: 32 << 20, pressureSource: SystemMemoryPressureSource.shared) { key, image in
///         print("evicted", key, image.cost)
///     })
/// ```
///
/// Images are identified by their source and ``/AlcedoCore/ImageRequest/additionalIdentifier`` only: requests that
/// differ in processors or size share an image. A request with a ``/AlcedoCore/ImageRequest/modifyRequest`` and without
/// an identifier is neither looked up nor stored, because only the changed request tells whose image it is.
///
/// The cache is read unless the HTTP cache policy of the request, or else that of its source, is
/// `reloadIgnoringLocalCacheData` or `reloadIgnoringLocalAndRemoteCacheData`, and if ``/AlcedoCore/CachePolicy/memory``
/// has read access. With `reloadRevalidatingCacheData`, write access suffices. Copies of the value use the same cache.
///
/// - SeeAlso: AFNetworking 2, `UIImageView+AFNetworking.m`, `AFImageCache`.
public struct RequestImageCache: Sendable {
    /// The cache that stores the images.
    package let cache: any MemoryCaching

    /// Creates a request cache on top of a memory cache.
    ///
    /// - Parameter cache: Any memory cache. AFNetworking uses `NSCache`, which ``NSCacheBackend`` provides.
    public init(_ cache: any MemoryCaching) { self.cache = cache }

    /// Returns the image stored for the source of `request`. Returns nil if there is none, or if the request's policy
    /// does not read the cache.
    ///
    /// - Complexity: O(length of the request's URL), plus the lookup in the memory cache.
    public func cachedImage(for request: ImageRequest) -> DecodedImage? {
        reads(request) ? cache.image(for: request.originalKey) : nil
    }

    private func reads(_ request: ImageRequest) -> Bool {
        guard isIdentified(request) else { return false }
        let policy = request.cachePolicy
        var protocolPolicy = policy.protocolPolicy
        if protocolPolicy == nil, case .http(let http) = request.source { protocolPolicy = http.cachePolicy }
        switch protocolPolicy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: return false
        case .reloadRevalidatingCacheData: return policy.memory != .none
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad, nil:
            return policy.memory.reads
        }
    }

    /// Stores `image` for the source of `request`. Later requests for that source find it if their policy reads the
    /// cache.
    ///
    /// The image is also stored if the request's policy does not read the cache, because reloading replaces the stored
    /// image. It is not stored if the policy has no write access to the memory cache, as with
    /// ``/AlcedoCore/CachePolicy/none``.
    ///
    /// - Complexity: O(length of the request's URL), plus the store in the memory cache.
    public func cacheImage(_ image: DecodedImage, for request: ImageRequest) {
        guard request.cachePolicy.memory.writes, isIdentified(request) else { return }
        cache.store(image, for: request.originalKey)
    }

    private func isIdentified(_ request: ImageRequest) -> Bool {
        !request.hasModifier || request.additionalIdentifier != nil
    }
}
