public import AlcedoCore
import AlcedoHTTP

/// Finds and stores images by request, over any memory cache, by the rule of AFNetworking's old image cache.
///
/// The rule: the two reload policies read nothing, whatever is stored; all others read. In `NSURLRequest`'s words
/// those are "reload ignoring local cache data", here ``CachePolicy/reload``, and "reload ignoring local and remote
/// cache data". ``CachePolicy/revalidate`` reads. The policy is the `protocolPolicy` of the ``CachePolicy`` or, where that is nil,
/// that of the source's own request. What `NSURLRequest` does not know is honored besides: ``CachePolicy/none``, and
/// a ``CachePolicy/memory`` without `.read` under any policy but revalidation, read nothing. Images are found by
/// where they come from, whatever is done to them afterwards: requests that differ in processors or size share one.
///
/// Over an ``NSCacheBackend`` that is given a pressure source and a handler for evictions it is the whole
/// `AFImageCache`:
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
/// A value; copies use the same cache.
///
/// - SeeAlso: AFNetworking 2, `UIImageView+AFNetworking.m`, `AFImageCache`.
public struct RequestImageCache: Sendable {
    /// Where the images are.
    package let cache: any MemoryCaching

    /// - Parameter cache: Any memory cache; ``NSCacheBackend`` is what the rule was written for.
    public init(_ cache: any MemoryCaching) { self.cache = cache }

    /// Returns the image stored for the source of `request`, unless its policy is one of those that read nothing.
    /// O(length of the request's URL), and what the cache costs.
    public func cachedImage(for request: ImageRequest) -> DecodedImage? {
        reads(request) ? cache.image(for: request.originalKey) : nil
    }

    private func reads(_ request: ImageRequest) -> Bool {
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

    /// Stores `image` for the source of `request`, where every later request for it finds it.
    ///
    /// A request that reads nothing stores all the same: that is what reloading is for. Only a policy that keeps it from
    /// writing memory (``CachePolicy/none``), which `NSURLRequest` does not know, stores nothing. O(length of the request's
    /// URL), and what the cache costs.
    public func cacheImage(_ image: DecodedImage, for request: ImageRequest) {
        guard request.cachePolicy.memory.writes else { return }
        cache.store(image, for: request.originalKey)
    }
}
