public import AlcedoHTTP

/// An image, and where it came from.
public struct ImageResponse: Sendable {
    /// The layer that had the image.
    public enum Layer: String, Sendable, Hashable {
        /// The memory cache.
        case memory
        /// The disk cache.
        case disk
        /// A server, a response cache on the way to it, or a closure.
        case network
        /// A file, a `data:` URL, or bytes in memory.
        case local
    }

    /// The finished image.
    public var image: DecodedImage
    /// Which layer had it, or the bytes it was made of.
    public var layer: Layer
    /// The number of encoded bytes that were read; nil for an image from memory.
    public var encodedByteCount: Int?
    /// The head of the HTTP response that brought the bytes in this load: its status, its fields, and the URL after all
    /// redirects. The same for all requests that shared the load. nil for an image from memory or disk, and for a source
    /// that is not HTTP; a response cache returns the head that it has stored.
    public var httpResponse: HTTPResponseHead?
    /// The times and sizes of the transfer that brought the bytes in this load. nil where ``httpResponse`` is nil, where a
    /// response cache had the bytes, and where the transport does not measure.
    public var metrics: HTTPTransferMetrics?

    /// A response; by default without an HTTP response.
    public init(
        image: DecodedImage, layer: Layer, encodedByteCount: Int? = nil, httpResponse: HTTPResponseHead? = nil,
        metrics: HTTPTransferMetrics? = nil
    ) {
        self.image = image
        self.layer = layer
        self.encodedByteCount = encodedByteCount
        self.httpResponse = httpResponse
        self.metrics = metrics
    }
}
