public import AlcedoCore
public import FoundationEssentials

/// Decides what bytes an ``ImageCache`` keeps of an image, and makes an image of them again.
///
/// Calls may come from any thread at the same time and block while they work. The cache makes them on threads of its own.
/// Source: Kingfisher's protocol of this name.
public protocol CacheSerializer: Sendable {
    /// Returns the bytes to keep, and whether they are `original`; nil when nothing can be written.
    ///
    /// - Parameters:
    ///   - image: A whole image, an animation with all its frames.
    ///   - original: The bytes that the image came from, where they are known.
    ///   - isProcessed: Whether something was done to the image since. If not, it is what `original` decodes to.
    ///   - codecs: The formats, and who writes them.
    func bytes(
        of image: DecodedImage, original: Data?, isProcessed: Bool, codecs: CodecRegistry
    ) -> (data: Data, isOriginal: Bool)?

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

/// Keeps the original bytes where they are what is wanted, and otherwise writes the format they are in.
///
/// An image to which nothing was done is its original, byte for byte. A processed one is written in the format of the
/// original (PNG, JPEG, GIF, WebP, whatever the codecs know and write), and as PNG where there is no original, where its
/// format is unknown, or where that cannot hold the image: JPEG no transparency, for one. Without PNG among the codecs, any
/// format that holds it will do. An animation is written in a format that holds all frames; if no codec writes the one it
/// came in, its original is kept.
///
/// With a format of its own, the serializer writes every image in that format, whatever it came in and whatever that loses:
/// of an animation the frames, where the format has none. Where no codec writes the format, or it cannot hold an image of
/// that size, the image is written in its original's format, then as PNG; at last its original bytes are kept.
///
/// Kingfisher re-encodes an image that nothing was done to; the bytes kept here are as right, smaller, and cost no time.
/// Source: its `DefaultCacheSerializer` and `FormatIndicatedCacheSerializer`.
public struct DefaultCacheSerializer: CacheSerializer {
    private let format: ImageFormat?
    private let quality: Double
    private let prefersOriginalData: Bool

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - format: The format in which every image is written; nil for that of its original. Default: nil.
    ///   - quality: From 0 to 1, for formats with loss. 1, the default, is the best that a format can do.
    ///   - prefersOriginalData: Whether the original bytes are kept of processed images too, so that the processing is
    ///     done again after each read. Has no effect with a format. Default: false.
    public init(format: ImageFormat? = nil, quality: Double = 1, prefersOriginalData: Bool = false) {
        self.format = format
        self.quality = quality
        self.prefersOriginalData = prefersOriginalData
    }

    public func bytes(
        of image: DecodedImage, original: Data?, isProcessed: Bool, codecs: CodecRegistry
    ) -> (data: Data, isOriginal: Bool)? {
        // No bytes are no image.
        let kept = original.flatMap { $0.isEmpty ? nil : $0 }
        if format == nil, let kept, prefersOriginalData || !isProcessed { return (kept, true) }
        let writer = ImageWriter(image: image, codecs: codecs, quality: quality)
        let originalFormat = kept.flatMap { codecs.entry(for: $0)?.format }
        let encoded =
            if let format {
                writer.data(inFirstOf: [format, originalFormat, .png])
            } else {
                encoded(by: writer, kept, originalFormat)
            }
        return encoded.map { ($0, false) } ?? kept.map { ($0, true) }
    }

    /// Returns the image in the format that suits it best; nil where none does.
    private func encoded(by writer: ImageWriter, _ original: Data?, _ originalFormat: ImageFormat?) -> Data? {
        let image = writer.image
        let format = original == nil && image.isAnimated ? image.format : originalFormat
        if let data = format.flatMap(writer.faithfulData) { return data }
        guard image.isAnimated else { return writer.data(in: .png) ?? writer.faithfulDataInAnyFormat }
        // Its first frame is better than nothing, and only than that.
        return original == nil ? writer.faithfulDataInAnyFormat ?? writer.data(in: .png) : nil
    }
}

/// Writes one image in the format that is requested, if that can be done. Blocks.
private struct ImageWriter {
    let image: DecodedImage
    let codecs: CodecRegistry
    let quality: Double

    /// Returns nil when no codec writes the format, or the encoder cannot write this image.
    func data(in format: ImageFormat) -> Data? { codecs.encoder(for: format, quality: quality).flatMap(data) }

    /// Writes the first of some formats in which the image can be written.
    func data(inFirstOf formats: [ImageFormat?]) -> Data? {
        for case let format? in formats {
            if let data = data(in: format) { return data }
        }
        return nil
    }

    /// As ``data(in:)``, and nil when the format cannot hold all of the image.
    func faithfulData(in format: ImageFormat) -> Data? {
        guard let encoder = codecs.encoder(for: format, quality: quality), encoder.holds(image) else { return nil }
        return data(by: encoder)
    }

    /// Writes the first of the codecs' formats that can hold all of the image.
    var faithfulDataInAnyFormat: Data? {
        for entry in codecs.entries {
            if let data = faithfulData(in: entry.format) { return data }
        }
        return nil
    }

    /// An image that fails in one format may be written in another, so that the error does not matter.
    private func data(by encoder: any ImageEncoding) -> Data? { try? encoder.encode(image) }
}
