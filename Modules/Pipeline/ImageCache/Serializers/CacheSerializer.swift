public import AlcedoCore
public import FoundationEssentials

/// Decides what bytes an ``ImageCache`` keeps of an image, and makes an image of them again.
///
/// Calls may come from any thread at the same time and block while they work. The cache makes them on threads of its own.
/// Source: Kingfisher's protocol of this name.
public protocol CacheSerializer: Sendable {
    /// Returns the bytes to keep; nil when nothing can be written.
    ///
    /// - Parameters:
    ///   - image: A whole image, an animation with all its frames.
    ///   - original: The bytes that the image came from, where they are known.
    ///   - isProcessed: Whether something was done to the image since. If not, it is what `original` decodes to.
    ///   - codecs: The formats, and who writes them.
    func bytes(
        of image: DecodedImage, original: Data?, isProcessed: Bool, codecs: CodecRegistry
    ) -> SerializedImage?

    /// Makes an image of bytes that were kept. Throws ``ImageDecodingError``. Default: decodes by the codecs.
    func image(
        from data: Data, options: DecodingOptions, codecs: CodecRegistry
    ) throws(ImageDecodingError) -> DecodedImage
}

extension CacheSerializer {
    public func image(
        from data: Data, options: DecodingOptions, codecs: CodecRegistry
    ) throws(ImageDecodingError) -> DecodedImage {
        try codecs.decode(data, options: options)
    }
}
