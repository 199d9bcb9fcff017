public import AlcedoCore
import AlcedoHTTP

/// A cache that finds and stores images by request, on top of any memory cache, with the cache policy rule of
/// AFNetworking 2.
///
/// Two policies of a request decide whether it reads the cache. The first is the ``/AlcedoHTTP/HTTPCachePolicy``. Two
/// of its values prevent reading: `reloadIgnoringLocalCacheData` (the policy of ``/AlcedoCore/CachePolicy/reload``) and
/// `reloadIgnoringLocalAndRemoteCacheData`. If the request's ``/AlcedoCore/CachePolicy`` specifies no HTTP cache
/// policy, the policy of the source's own HTTP request applies.
///
/// The second is the ``/AlcedoCore/CachePolicy``, which must have read access to ``/AlcedoCore/CachePolicy/memory``.
/// ``/AlcedoCore/CachePolicy/none`` has no access. With `reloadRevalidatingCacheData` (the policy of
/// ``/AlcedoCore/CachePolicy/revalidate``), write access suffices.
///
/// Images are identified by their source and ``/AlcedoCore/ImageRequest/additionalIdentifier`` only, without the
/// request's processing. Requests that differ in processors or size share an image. A request with a
/// ``/AlcedoCore/ImageRequest/modifyRequest`` and without an identifier is neither looked up nor stored, because only
/// the changed request tells whose image it is.
///
/// With an ``NSCacheBackend`` that has a pressure source and an eviction handler, this type provides the complete
/// behavior of `AFImageCache`:
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
/// Copies of the value use the same cache.
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
