public import FoundationEssentials

/// A type that converts images to the bytes that a cache stores, and stored bytes to images.
///
/// ```swift
/// struct ThumbnailSerializer: CacheSerializer {
///     let identifier = "thumbnails as WebP"
///
///     func bytes(
///         of image: DecodedImage, original: Data?, in context: CacheSerializationContext
///     ) -> (data: Data, isOriginal: Bool)? {
///         guard image.size.pixelCount <= 250_000 else { return nil }
///         return (try? ImageEncoder.webp(quality: 70).encode(image)).map { ($0, false) }
///     }
/// }
/// ```
///
/// Methods may block. Caches call them on threads of their own, and several calls can run concurrently. Source:
/// Kingfisher's protocol of this name.
public protocol CacheSerializer: Sendable {
    /// A text that distinguishes the bytes of this serializer from those of others. Serializers with equal identifiers
    /// write equal bytes, and read what each other has written.
    ///
    /// The identifier of ``ImageRequest/serializer`` is part of the key of the request. That of the serializer of a
    /// pipeline or an `ImageCache` is part of no key: it reads what its predecessor has written.
    var identifier: String { get }

    /// Returns the bytes to store and whether they are `original`, or nil to store nothing, for example when no codec
    /// can write the image.
    ///
    /// - Parameters:
    ///   - image: A whole image. An animation has all its frames.
    ///   - original: The encoded bytes that the image was made from, or nil when they are not known.
    ///   - context: The key and the request of the image.
    func bytes(
        of image: DecodedImage, original: Data?, in context: CacheSerializationContext
    ) -> (data: Data, isOriginal: Bool)?

    /// Decodes stored bytes. Throws ``ImageDecodingError``. The default implementation decodes with the codecs of the
    /// context.
    func image(from data: Data, in context: CacheSerializationContext) throws(ImageDecodingError) -> DecodedImage

    /// Returns the asynchronous encoder of an image, or nil to store what ``bytes(of:original:in:)`` returns, which is
    /// also stored when the encoder fails. Must not block. The default implementation returns nil.
    func asyncEncoder(
        of image: DecodedImage, original: Data?, in context: CacheSerializationContext
    ) -> (any AsyncImageEncoding)?

    /// Returns the asynchronous decoder of stored bytes, or nil to call ``image(from:in:)``. Called only if the codecs
    /// of the context have asynchronous ones. The default implementation returns nil.
    func asyncDecoder(of data: Data, in context: CacheSerializationContext) -> (any AsyncImageDecoding)?
}

extension CacheSerializer {
    /// Decodes stored bytes with the codecs of the context. Throws ``ImageDecodingError``.
    public func image(
        from data: Data, in context: CacheSerializationContext
    ) throws(ImageDecodingError) -> DecodedImage {
        try context.codecs.decode(data, options: context.decoding)
    }

    /// Returns nil.
    public func asyncEncoder(
        of image: DecodedImage, original: Data?, in context: CacheSerializationContext
    ) -> (any AsyncImageEncoding)? { nil }

    /// Returns nil.
    public func asyncDecoder(of data: Data, in context: CacheSerializationContext) -> (any AsyncImageDecoding)? { nil }
}

/// What a ``CacheSerializer`` learns of the image that it writes or reads.
public struct CacheSerializationContext: Sendable {
    /// The key under which the bytes are stored.
    public var key: ImageKey
    /// The request that loads or stores the image, with the changes of its modifiers; nil in an `ImageCache`, which has
    /// no requests.
    public var request: ImageRequest?
    /// Whether the image was processed. If not, it is the decoded original.
    public var isProcessed: Bool
    /// The codecs of the formats to write and read.
    public var codecs: CodecRegistry
    /// The options for reading.
    public var decoding: DecodingOptions

    /// Creates a context. By default, it is that of an original without a request.
    public init(
        key: ImageKey, request: ImageRequest? = nil, isProcessed: Bool = false, codecs: CodecRegistry,
        decoding: DecodingOptions = DecodingOptions()
    ) {
        self.key = key
        self.request = request
        self.isProcessed = isProcessed
        self.codecs = codecs
        self.decoding = decoding
    }
}
