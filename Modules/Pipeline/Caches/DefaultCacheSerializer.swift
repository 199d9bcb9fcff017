public import AlcedoCore
public import FoundationEssentials

/// The default form of images on disk: the original bytes of an unprocessed image, and a processed image in the format
/// of its original.
///
/// ```swift
/// let serializer = DefaultCacheSerializer(format: .webp, quality: 0.8)
/// ```
///
/// Without a `format`, PNG replaces a format that is unknown, cannot be written or cannot hold the image; if PNG cannot
/// either, the first codec that can. PNG also holds processed images in PQ and HLG with 16-bit samples. A processed
/// animation needs a format that holds all frames. Without one, the original bytes are kept. If they are not known, the
/// first codec that holds all frames writes them, such as that of PNG.
///
/// With a `format`, every image is written in that format, even if this loses data, such as all frames but one. When
/// that is not possible, the format of the original, PNG and the original bytes follow.
///
/// Source: Kingfisher's `DefaultCacheSerializer`, which re-encodes unprocessed images, and
/// `FormatIndicatedCacheSerializer`.
public struct DefaultCacheSerializer: CacheSerializer {
    private let format: ImageFormat?
    private let quality: Double
    private let prefersOriginalData: Bool

    /// The parameters of the initializer, such as `default(format: webp, quality: 0.8)`.
    public var identifier: String {
        let format = format.map { "format: \($0.rawValue), " } ?? ""
        return "default(\(format)quality: \(quality)\(prefersOriginalData ? ", prefersOriginalData" : ""))"
    }

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - format: The format of every image, or nil for the format of its original. Default: nil.
    ///   - quality: The quality of lossy formats, from 0 to 1. Default: 1, the best that a format supports.
    ///   - prefersOriginalData: Whether the original bytes, if they are known, are also returned for processed images.
    ///     ``ImageCache`` stores them in place of the processed image, and a hit from disk then needs processing. An
    ///     ``ImagePipeline`` then stores no processed image, and stores original bytes only as its
    ///     ``/AlcedoCore/DataCachePolicy`` determines. Has no effect with a `format`. Default: false.
    public init(format: ImageFormat? = nil, quality: Double = 1, prefersOriginalData: Bool = false) {
        self.format = format
        self.quality = quality
        self.prefersOriginalData = prefersOriginalData
    }

    /// Returns the original bytes or the encoded image, by the rules in the description of this type. Returns nil when
    /// no codec can write the image and there are no original bytes.
    public func bytes(
        of image: DecodedImage, original: Data?, in context: CacheSerializationContext
    ) -> (data: Data, isOriginal: Bool)? {
        let (codecs, isProcessed) = (context.codecs, context.isProcessed)
        // An empty original cannot be decoded.
        let nonemptyOriginal = original.flatMap { $0.isEmpty ? nil : $0 }
        if format == nil, let nonemptyOriginal, prefersOriginalData || !isProcessed { return (nonemptyOriginal, true) }
        let writer = ImageWriter(image: image, codecs: codecs, quality: quality)
        let originalFormat = nonemptyOriginal.flatMap { codecs.entry(for: $0)?.format }
        let encoded =
            if let format {
                writer.data(inFirstOf: [format, originalFormat, .png])
            } else {
                encoded(by: writer, nonemptyOriginal, originalFormat)
            }
        return encoded.map { ($0, false) } ?? nonemptyOriginal.map { ($0, true) }
    }

    /// Returns the asynchronous encoder of the format in which the image is written, if the codecs of the context have
    /// one that can hold the image. Returns nil when the original bytes are stored.
    public func asyncEncoder(
        of image: DecodedImage, original: Data?, in context: CacheSerializationContext
    ) -> (any AsyncImageEncoding)? {
        let codecs = context.codecs
        guard codecs.hasAsyncCodecs else { return nil }
        let original = original.flatMap { $0.isEmpty ? nil : $0 }
        if format == nil, original != nil, prefersOriginalData || !context.isProcessed { return nil }
        let originalFormat = original.map { codecs.entry(for: $0)?.format } ?? (image.isAnimated ? image.format : nil)
        let suitableFormat = Self.needsPNG(image) ? .png : originalFormat ?? .png
        guard let encoder = codecs.asyncEncoder(for: format ?? suitableFormat, quality: quality),
            format != nil || encoder.canEncode(image)
        else { return nil }
        return encoder
    }

    /// Returns the asynchronous decoder of the codec that recognizes the bytes, if it has one.
    public func asyncDecoder(of data: Data, in context: CacheSerializationContext) -> (any AsyncImageDecoding)? {
        context.codecs.asyncDecoder(for: data)
    }

    /// Whether the image is HDR: JPEG and WebP have too few bits, and an image with a gain map comes from a JPEG or
    /// HEIF file.
    private static func needsPNG(_ image: DecodedImage) -> Bool {
        image.pixels.format.isDeep && !image.isAnimated && image.rowHeader.hasHighDynamicRange
    }

    /// Returns the image encoded in the most suitable format. Returns nil when no codec can encode it, and when the
    /// original bytes of an animation must be kept.
    private func encoded(by writer: ImageWriter, _ original: Data?, _ originalFormat: ImageFormat?) -> Data? {
        let image = writer.image
        if Self.needsPNG(image), let data = writer.data(in: .png) { return data }
        let format = original == nil && image.isAnimated ? image.format : originalFormat
        if let data = format.flatMap(writer.faithfulData) { return data }
        guard image.isAnimated else { return writer.data(in: .png) ?? writer.faithfulDataInAnyFormat }
        // A single frame is stored only when there is no original to keep.
        return original == nil ? writer.faithfulDataInAnyFormat ?? writer.data(in: .png) : nil
    }
}

/// A writer that encodes one image in a requested format. Its methods block.
private struct ImageWriter {
    let image: DecodedImage
    let codecs: CodecRegistry
    let quality: Double

    /// Encodes the image. Returns nil when no codec writes the format, or the encoder cannot write this image.
    func data(in format: ImageFormat) -> Data? { codecs.encoder(for: format, quality: quality).flatMap(data) }

    /// Encodes the image in the first of the formats that works. Returns nil when none does.
    func data(inFirstOf formats: [ImageFormat?]) -> Data? {
        for case let format? in formats {
            if let data = data(in: format) { return data }
        }
        return nil
    }

    /// Encodes the image as ``data(in:)`` does. Also returns nil when the format cannot hold all frames or the
    /// transparency of the image.
    func faithfulData(in format: ImageFormat) -> Data? {
        guard let encoder = codecs.encoder(for: format, quality: quality), encoder.canEncode(image) else { return nil }
        return data(by: encoder)
    }

    /// The image encoded in the first of the codecs' formats that can hold all frames and the transparency, or nil when
    /// none can.
    var faithfulDataInAnyFormat: Data? {
        for entry in codecs.entries {
            if let data = faithfulData(in: entry.format) { return data }
        }
        return nil
    }

    /// Encodes the image. An error is ignored, because the caller then tries another format.
    private func data(by encoder: any ImageEncoding) -> Data? { try? encoder.encode(image.storedForm) }
}
