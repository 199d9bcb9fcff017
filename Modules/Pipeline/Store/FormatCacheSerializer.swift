public import AlcedoCore
public import FoundationEssentials

/// Writes every image in one format, whatever it came in and whatever that loses: of an animation the frames, where the
/// format has none.
///
/// Where nobody writes the format, or it cannot hold a picture of that size, the image is written in its original's
/// format, then as PNG; at last its original bytes are kept. Source: Kingfisher's `FormatIndicatedCacheSerializer`.
public struct FormatCacheSerializer: CacheSerializer {
    private let format: ImageFormat
    private let quality: Double

    /// - Parameters:
    ///   - format: The format that is written.
    ///   - quality: Default: 1.
    public init(_ format: ImageFormat, quality: Double = 1) {
        self.format = format
        self.quality = quality
    }

    public func bytes(
        of image: DecodedImage, original: Data?, isProcessed: Bool, codecs: CodecRegistry
    ) -> SerializedImage? {
        let writer = CacheImageWriter(image, codecs: codecs, quality: quality)
        let formats = [format, original.flatMap { codecs.entry(for: $0)?.format }, .png]
        for case let format? in formats {
            if let data = writer.data(in: format) { return SerializedImage(data) }
        }
        return original.flatMap { $0.isEmpty ? nil : SerializedImage($0, isOriginal: true) }
    }
}
