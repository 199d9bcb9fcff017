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

/// The bytes that stand for an image in a data cache.
public struct SerializedImage: Sendable, Hashable {
    /// The encoded image.
    public var data: Data
    /// Whether they are those that the image came from, before anything was done to it.
    public var isOriginal: Bool

    /// Bytes of an image; by default made anew.
    public init(_ data: Data, isOriginal: Bool = false) {
        self.data = data
        self.isOriginal = isOriginal
    }
}

/// Keeps the original bytes where they are what is wanted, and otherwise writes the format they are in.
///
/// An image to which nothing was done is its original, byte for byte. A processed one is written in the format of the
/// original (PNG, JPEG, GIF, WebP, whatever the codecs know and write), and as PNG where there is no original, where nobody
/// knows its format, or where that cannot hold the image: JPEG no transparency, for one. Without PNG among the codecs, any
/// format that holds it will do. An animation is written in a format that holds all frames; if nobody writes the one it
/// came in, its original is kept.
///
/// Kingfisher re-encodes an image that nothing was done to; the bytes kept here are as right, smaller, and cost no time.
public struct DefaultCacheSerializer: CacheSerializer {
    private let quality: Double
    private let prefersOriginalData: Bool

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - quality: From 0 to 1, for formats with loss. 1, the default, is the best that a format can do.
    ///   - prefersOriginalData: Whether the original bytes are kept of processed images too, so that the processing is
    ///     done again after each read. Default: false.
    public init(quality: Double = 1, prefersOriginalData: Bool = false) {
        self.quality = quality
        self.prefersOriginalData = prefersOriginalData
    }

    public func bytes(
        of image: DecodedImage, original: Data?, isProcessed: Bool, codecs: CodecRegistry
    ) -> SerializedImage? {
        // No bytes are no image.
        let kept = original.flatMap { $0.isEmpty ? nil : SerializedImage($0, isOriginal: true) }
        if let kept, prefersOriginalData || !isProcessed { return kept }
        let writer = CacheImageWriter(image, codecs: codecs, quality: quality)
        let format = kept.map { codecs.entry(for: $0.data)?.format } ?? (image.isAnimated ? image.format : nil)
        if let data = format.flatMap(writer.faithfulData) { return SerializedImage(data) }
        if image.isAnimated {
            // Its first frame is better than nothing, and only than that.
            return kept ?? (writer.faithfulDataInAnyFormat ?? writer.data(in: .png)).map { SerializedImage($0) }
        }
        return (writer.data(in: .png) ?? writer.faithfulDataInAnyFormat).map { SerializedImage($0) } ?? kept
    }
}

/// Writes one image in whatever format is asked for, if that can be done. Blocks.
struct CacheImageWriter {
    private let image: DecodedImage
    private let codecs: CodecRegistry
    private let quality: Double

    init(_ image: DecodedImage, codecs: CodecRegistry, quality: Double) {
        self.image = image
        self.codecs = codecs
        self.quality = quality
    }

    /// nil when nobody writes the format, or the encoder cannot write this image.
    func data(in format: ImageFormat) -> Data? { codecs.encoder(for: format, quality: quality).flatMap(data) }

    /// As ``data(in:)``, and nil when the format cannot hold all of the image.
    func faithfulData(in format: ImageFormat) -> Data? {
        guard let encoder = codecs.encoder(for: format, quality: quality), encoder.holds(image) else { return nil }
        return data(by: encoder)
    }

    /// In the first of the codecs' formats that can hold all of the image.
    var faithfulDataInAnyFormat: Data? {
        for entry in codecs.entries {
            if let data = faithfulData(in: entry.format) { return data }
        }
        return nil
    }

    /// What fails in one format may work in another, so it does not matter how.
    private func data(by encoder: any ImageEncoding) -> Data? { try? encoder.encode(image) }
}
