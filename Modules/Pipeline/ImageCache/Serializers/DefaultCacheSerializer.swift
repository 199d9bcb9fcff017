public import AlcedoCore
public import FoundationEssentials

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
    /// From 0 to 1, for formats with loss. 1 is the best that a format can do.
    public var quality: Double
    /// Whether the original bytes are kept of processed images too, so that the processing is done again after each read.
    public var prefersOriginalData: Bool

    /// - Parameters:
    ///   - quality: Default: 1.
    ///   - prefersOriginalData: Default: false.
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
