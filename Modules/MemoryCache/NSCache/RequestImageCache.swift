public import AlcedoCore

/// Finds and stores images by request, over any memory cache, by the rule of AFNetworking's old image cache.
///
/// The rule: a request that asks to be loaded anew reads nothing, whatever is stored; all others read. In `NSURLRequest`'s
/// words those are "reload ignoring local cache data" and "reload ignoring local and remote cache data", here
/// ``CachePolicy/reload``: every policy whose `memory` lacks `.read`. Images are found by where they come from, whatever is
/// done to them afterwards: requests that differ in processors or size share one.
///
/// A value; copies use the same cache.
///
/// - SeeAlso: AFNetworking 2, `UIImageView+AFNetworking.m`, `AFImageCache`.
public struct RequestImageCache: Sendable {
    /// Where the images are.
    public let cache: any MemoryCaching

    /// - Parameter cache: Any memory cache; ``NSCacheBackend`` is what the rule was written for.
    public init(_ cache: any MemoryCaching) { self.cache = cache }

    /// Returns the image stored for the source of `request`, unless its policy keeps it from reading memory. O(length of
    /// the request's URL), and what the cache costs.
    public func cachedImage(for request: ImageRequest) -> DecodedImage? {
        request.cachePolicy.memory.contains(.read) ? cache.image(for: request.originalKey) : nil
    }

    /// Stores `image` for the source of `request`, where every later request for it finds it.
    ///
    /// A request that reads nothing stores all the same: that is what reloading is for. Only a policy that keeps it from
    /// writing memory (``CachePolicy/none``), which `NSURLRequest` does not know, stores nothing. O(length of the request's
    /// URL), and what the cache costs.
    public func cacheImage(_ image: DecodedImage, for request: ImageRequest) {
        guard request.cachePolicy.memory.contains(.write) else { return }
        cache.store(image, for: request.originalKey)
    }
}
