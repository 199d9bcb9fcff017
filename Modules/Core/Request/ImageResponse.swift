public import AlcedoHTTP
public import FoundationEssentials

/// A loaded image and its origin.
public struct ImageResponse: Sendable {
    /// The layer from which an image was loaded.
    public enum Layer: String, Sendable, Hashable {
        /// The memory cache, or the pipeline's intermediate images in memory.
        case memory
        /// The disk cache.
        case disk
        /// A server, a response cache below the downloader, a provider closure, or a URL of another scheme.
        case network
        /// A file, a `data:` URL, or a source in memory.
        case local
    }

    /// The image after decoding, color conversion and all processors of the request.
    public var image: DecodedImage
    /// The layer that had the image, or the bytes from which it was decoded.
    ///
    /// The layer is `memory` also when memory had an intermediate, such as the full-size image of an earlier request,
    /// and this load only ran the rest of the processors. It is `disk` also when the disk had such an intermediate.
    public var layer: Layer
    /// The number of encoded bytes that were read; nil when no bytes were read, as for an image from the memory cache
    /// or a source that is a decoded image.
    public var encodedByteCount: Int?
    /// The head of the HTTP response that supplied the bytes in this load: its status, its fields, and the URL after
    /// all redirects.
    ///
    /// All requests that share the load get the same head. A response cache returns the stored head. The value is nil
    /// for an image from the memory cache or the disk cache, and for a source that is not HTTP.
    public var httpResponse: HTTPResponseHead?
    /// The times and sizes of the transfer that supplied the bytes in this load. The value is nil when ``httpResponse``
    /// is nil, when a response cache supplied the bytes, and when the transport does not measure.
    public var metrics: HTTPTransferMetrics?
    /// The index of the source in ``ImageRequest/alternativeSources`` that supplied the image; nil for the request's
    /// ``ImageRequest/source``.
    public var alternativeIndex: Int?
    /// The original bytes, from which this load has made the image; nil unless the request has asked for them:
    /// ``ImageRequest/maximumDataByteCount``.
    ///
    /// They are those that the load has read, from the network, a response cache, the disk cache or a local source. The
    /// value is nil when the load has read none: for an image or an intermediate from memory, for a processed image
    /// from the disk cache, and for a source that is a decoded image. `ImagePipeline.data(for:)` then loads them.
    public var data: Data?
    /// Whether the image is only for requests with the modifier of the request that loaded it. Default: false.
    package var isOfModifier = false
    /// The digest of the original bytes of the image; nil if it is not known, as for an image from memory.
    package var sourceDigest: UInt64?

    /// Creates a response. By default, it has no HTTP response.
    public init(
        image: DecodedImage, layer: Layer, encodedByteCount: Int? = nil, httpResponse: HTTPResponseHead? = nil,
        metrics: HTTPTransferMetrics? = nil, data: Data? = nil
    ) {
        self.image = image
        self.layer = layer
        self.encodedByteCount = encodedByteCount
        self.httpResponse = httpResponse
        self.metrics = metrics
        self.data = data
    }
}
